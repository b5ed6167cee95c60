import { beforeAll, describe, expect, it } from 'vitest'
import type { ValidatorTitle } from '../scripts.js'
import type { Breach } from './breach.js'
import { type Evaluate, engines, testedEngines } from './evaluate.js'
import { instrumentedBuild } from './instrumented-build.js'
import type { TestTransaction } from './transaction.js'
import { createWorld, type World, type WorldOptions } from './world.js'

/** The scripts of the protocol, and an engine that runs them. */
interface Protocol {
  open(options?: WorldOptions): World
  readonly evaluate: Evaluate
  /** Expects that the scripts refuse a transaction by `rule`; undefined if they fail before any rule. */
  refuses(transaction: TestTransaction, rule: string | undefined): void
}

/** Declares tests that run on the published scripts, and on instrumented ones, which name the broken rule. */
export function describeProtocol(name: string, declare: (protocol: Protocol) => void): void {
  const variants = {
    state_queue: instrumented('state_queue'),
    operator_registry: instrumented('operator_registry'),
  }
  for (const [engine, evaluate] of Object.entries(testedEngines)) {
    describe(`${name}, run by ${engine}`, () => {
      describe('in published scripts', () => {
        const refuses = (transaction: TestTransaction) =>
          expect(evaluate(transaction)).toMatchObject({ ok: false })
        declare({ open: createWorld, evaluate, refuses })
      })
      describe('in instrumented scripts', () => {
        const refuses: Protocol['refuses'] = (transaction, lastTrace) =>
          expect(evaluate(transaction)).toMatchObject({ ok: false, lastTrace })
        declare({ open: (options) => createWorld({ ...options, variants }), evaluate, refuses })
      })
    })
  }
}

/** A script that skips no rule. */
const instrumented = (title: 'state_queue' | 'operator_registry') => ({
  program: instrumentedBuild(title).program,
  leading: [-1n],
})

/** Both transactions in one: outputs 0 and 1 would have to serve both rollups. */
export const withNeighbor = (transaction: TestTransaction, other: TestTransaction): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs,
    ...other.inputs.filter(({ redeemer }) => redeemer).map((input) => ({ ...input, id: input.id + 20 })),
  ],
  outputs: [...transaction.outputs, ...other.outputs],
  mint: [...transaction.mint, ...other.mint],
  mintRedeemers: [...transaction.mintRedeemers, ...other.mintRedeemers],
  referenceInputs: [
    ...transaction.referenceInputs,
    ...other.referenceInputs.map((input) => ({ ...input, id: input.id + 1 - 100 })),
  ],
})

/**
 * Declares the tests of a validator. Every engine accepts the scenarios and refuses the breaches. The
 * instrumented build shows that a breach is refused by its rule, and passes without it.
 */
export function judgeRules(
  title: ValidatorTitle,
  scenarios: { readonly [name: string]: (world: World) => TestTransaction },
  breaches: readonly Breach[],
): void {
  describe.each(Object.entries(testedEngines))('the published script, run by %s', (_engine, judge) => {
    const world = createWorld()

    it.each(Object.entries(scenarios))('accepts %s', (_name, scenario) => {
      expect(judge(scenario(world))).toMatchObject({ ok: true })
    })

    it.each(breaches)('refuses $rule: $what', ({ transaction, options }) => {
      expect(judge(transaction(options ? createWorld(options) : world))).toMatchObject({ ok: false })
    })
  })

  describe('the instrumented script', () => {
    let script: Instrumented
    beforeAll(() => {
      script = instrument(title)
    }, 120_000)

    it('has a breach of every rule', () => {
      expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set(script.rules))
    })

    it.each(breaches)('refuses by $rule, and accepts without it: $what', async (breach) => {
      const { rule, transaction, options } = breach
      const run = (skipped?: string) => engines.cek(transaction(script.without(skipped, options)))
      expect(await run()).toMatchObject({ ok: false, lastTrace: rule })
      expect(await run(rule)).toMatchObject({ ok: true })
    })
  })
}

/** A validator that traces the rules it evaluates and can skip one. Compiling it takes seconds. */
interface Instrumented {
  /** The names of the rules, in the order of evaluation. */
  readonly rules: readonly string[]
  /** The world with the validator in place of the published one; `rule` is skipped. */
  without(rule?: string, options?: WorldOptions): World
}

function instrument(title: ValidatorTitle): Instrumented {
  const { program, rules } = instrumentedBuild(title)
  const worlds = new Map<string, World>()
  return {
    rules,
    without(rule, options) {
      const place = rule === undefined ? -1 : rules.indexOf(rule)
      if (rule !== undefined && place < 0) throw new RangeError(`There is no rule ${rule}`)
      const create = () =>
        createWorld({ ...options, variants: { [title]: { program, leading: [BigInt(place)] } } })
      if (options !== undefined) return create()
      const world = worlds.get(rule ?? '') ?? create()
      worlds.set(rule ?? '', world)
      return world
    },
  }
}
