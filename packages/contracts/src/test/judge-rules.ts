import { beforeAll, describe, expect, it } from 'vitest'
import type { ValidatorTitle } from '../script/blueprint.js'
import type { Breach } from './breach.js'
import { casesOf, engines, testedEngines } from './evaluate.js'
import { type Instrumented, instrument } from './instrumented.js'
import type { TestTransaction } from './transaction.js'
import { createWorld, type World } from './world.js'

/**
 * Declares the tests of a validator. Both engines accept the scenarios and refuse the breaches. An
 * instrumented build shows that each breach is refused by the rule it names, and that the rule is necessary:
 * without it, the breach passes.
 */
export function judgeRules(
  title: ValidatorTitle,
  scenarios: { readonly [name: string]: (world: World) => TestTransaction },
  breaches: readonly Breach[],
): void {
  describe.each(Object.entries(testedEngines))('the published script, run by %s', (engine, evaluate) => {
    const world = createWorld()

    it.each(Object.entries(scenarios))('accepts %s', (_name, scenario) => {
      expect(evaluate(scenario(world))).toMatchObject({ ok: true })
    })

    it.each(casesOf(engine, breaches))('refuses $rule: $what', ({ transaction, options }) => {
      expect(evaluate(transaction(options ? createWorld(options) : world))).toMatchObject({ ok: false })
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

    // scalus alone: Aiken's engine takes several times as long for a refused transaction.
    it.each(breaches)('refuses by $rule, and accepts without it: $what', ({ rule, transaction, options }) => {
      const run = (skipped?: string) => engines.scalus(transaction(script.without(skipped, options)))
      expect(run()).toMatchObject({ ok: false, lastTrace: rule })
      expect(run(rule)).toMatchObject({ ok: true })
    })
  })
}
