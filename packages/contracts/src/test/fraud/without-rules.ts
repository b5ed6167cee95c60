import { type Header, headerHash } from '@ratatosk/block'
import { decodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { ProvenFraud } from '@ratatosk/protocol/fraud'
import { beforeAll, describe, expect, it } from 'vitest'
import type { PlutusScript, ValidatorTitle } from '../../scripts.js'
import { instrumentedBuild } from '../instrumented-build.js'
import type { TestTransaction } from '../transaction.js'
import { traces } from '../uplc/builtins.js'
import type { TestBlock } from './blocks.js'
import { mintingOf, scriptOf, tokensOf } from './minting.js'
import { type TranslatedPolicy, translatePolicies } from './trial.js'

/** A proof that one rule of a policy alone refuses. */
export interface PolicyBreach<Proof> {
  readonly rule: string
  readonly what: string
  readonly block: TestBlock
  readonly proof: Proof
  /** The verdict's name, if it is not the header's hash. */
  readonly name?: Uint8Array
  /** Names of tokens of the policy that reference inputs hold. */
  readonly tokens?: readonly Uint8Array[]
}

/** The transaction that mints a verdict. */
export type Verdict<Proof> = (
  block: TestBlock,
  proof: Proof,
  options?: { readonly name?: Uint8Array },
) => TestTransaction

/** The redeemer with a proof, Plutus data CBOR. */
type EncodeProof<Proof> = (header: Header, proof: Proof) => Uint8Array

export const verdictsOf =
  <Proof extends ProvenFraud['proof']>(script: PlutusScript, encode: EncodeProof<Proof>): Verdict<Proof> =>
  ({ header }, proof, { name = headerHash(header) } = {}) =>
    mintingOf({ script, redeemer: encode(header, proof), name, tokens: tokensOf(header, proof) })

export interface WithoutRules<Proof> {
  readonly title: ValidatorTitle
  readonly parameters: readonly PlutusData[]
  readonly breaches: readonly PolicyBreach<Proof>[]
  readonly encode: EncodeProof<Proof>
}

/**
 * Declares the tests of an instrumented build: each breach is refused by its rule only, and every rule has a
 * breach. The build is translated, because a machine decodes it for each breach.
 */
export function judgeWithoutRules<Proof>(policy: WithoutRules<Proof>): void {
  const { title, parameters, breaches, encode } = policy

  describe('without one of its rules', () => {
    let rules: readonly string[]
    let translated: ReturnType<typeof translatePolicies>
    beforeAll(() => {
      const instrumented = instrumentedBuild(title)
      rules = instrumented.rules
      translated = translatePolicies(scriptOf(instrumented.program))
    }, 300_000)

    const skipping = (rule: string | undefined): TranslatedPolicy =>
      translated([BigInt(rule === undefined ? -1 : rules.indexOf(rule)), ...parameters])

    it('has a breach of every rule', () => {
      expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set(rules))
    })

    it.each(breaches)('accepts what $rule alone refuses: $what', ({ rule, block, proof, name, tokens }) => {
      const { header } = block
      const redeemer = decodePlutusData(encode(header, proof))
      const tested = (skipped?: string) => skipping(skipped)(redeemer, name ?? headerHash(header), tokens)
      traces.last = undefined
      expect(tested()).toBe('refused')
      expect(traces.last).toBe(rule)
      expect(tested(rule)).toBe('accepted')
    })
  })
}
