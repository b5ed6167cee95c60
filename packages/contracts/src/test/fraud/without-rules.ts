import { type Header, headerHash } from '@ratatosk/block'
import type { PlutusData } from '@ratatosk/ledger/plutus-data'
import { beforeAll, describe, expect, it } from 'vitest'
import { applyParameters, type PlutusScript } from '../../script/apply.js'
import type { ValidatorTitle } from '../../script/blueprint.js'
import { type Compiled, compileInstrumented } from '../../validators/compile.js'
import type { TestTransaction } from '../transaction.js'
import type { TestBlock } from './blocks.js'
import { type Judge, mintingOf, scriptOf } from './engines.js'

/** A proof that one rule of a policy alone refuses. */
export interface PolicyBreach<Proof> {
  readonly rule: string
  readonly what: string
  readonly block: TestBlock
  readonly proof: Proof
  /** The verdict's name, if it is not the header's hash. */
  readonly name?: Uint8Array
}

/** The transaction that mints a verdict. */
export type Verdict<Proof> = (
  block: TestBlock,
  proof: Proof,
  options?: { readonly name?: Uint8Array; readonly policy?: PlutusScript },
) => TestTransaction

/** Verdicts of a policy. */
export const verdictsOf =
  <Proof>(script: PlutusScript, encode: (header: Header, proof: Proof) => Uint8Array): Verdict<Proof> =>
  (block, proof, { name = headerHash(block.header), policy = script } = {}) =>
    mintingOf({ script: policy, redeemer: encode(block.header, proof), name })

export interface WithoutRules<Proof> {
  readonly title: ValidatorTitle
  /** Of the policy. */
  readonly parameters: readonly PlutusData[]
  readonly breaches: readonly PolicyBreach<Proof>[]
  readonly verdict: Verdict<Proof>
  readonly judge: Judge
}

/**
 * Declares the tests of an instrumented build of a policy: each breach is refused by the rule that it names,
 * and passes without it, and each rule has a breach.
 */
export function judgeWithoutRules<Proof>(policy: WithoutRules<Proof>): void {
  const { title, parameters, breaches, verdict, judge } = policy

  describe('without one of its rules', () => {
    let instrumented: Compiled
    const policies = new Map<number, PlutusScript>()
    beforeAll(() => {
      instrumented = compileInstrumented(title)
    }, 300_000)

    const skipping = (rule: string | undefined): PlutusScript => {
      const place = rule === undefined ? -1 : instrumented.rules.indexOf(rule)
      const known = policies.get(place)
      if (known !== undefined) return known
      const applied = applyParameters(scriptOf(instrumented.program).bytes, [BigInt(place), ...parameters])
      policies.set(place, applied)
      return applied
    }

    it('has a breach of every rule', () => {
      expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set(instrumented.rules))
    })

    it.each(breaches)('accepts what $rule alone refuses: $what', async ({ rule, block, proof, name }) => {
      const tested = (skipped?: string) =>
        judge(verdict(block, proof, { ...(name && { name }), policy: skipping(skipped) }))
      expect(await tested()).toMatchObject({ ok: false, lastTrace: rule })
      expect(await tested(rule)).toMatchObject({ ok: true })
    })
  })
}
