import { headerHash } from '@ratatosk/block'
import { encodeWitnessFraudProof, findWitnessFraud } from '@ratatosk/protocol/fraud'
import { describe, expect, it } from 'vitest'
import { languageParameters, witnessFraudScript } from '../../../fraud-scripts.js'
import { engines, parameters, testedEngines } from '../../../test/evaluate.js'
import { blockOf } from '../../../test/fraud/blocks.js'
import { mintingOf } from '../../../test/fraud/minting.js'
import { judgeWithoutRules, verdictsOf } from '../../../test/fraud/without-rules.js'
import { witnessBreaches } from '../../../test/fraud/witness/breaches.js'
import { needs, prove, witnessFailures, witnessLies } from '../../../test/fraud/witness/lies.js'
import {
  coinsBefore,
  everything,
  hashOf,
  honestStory,
  locker,
  minter,
  storyWith,
  strangelyReferring,
} from '../../../test/fraud/witness/story.js'

const script = witnessFraudScript(parameters)

const verdict = verdictsOf(script, encodeWitnessFraudProof)

describe('the witness policy', () => {
  it('has at most 12 kB', () => {
    expect(script.bytes.length).toBeLessThan(12_000)
  })

  it('speaks of what the ledger refuses', () => {
    expect(witnessFailures(honestStory)).toEqual([])
    for (const { what, block, predicate } of witnessLies)
      expect(witnessFailures(block), what).toContain(predicate)
  })

  describe.each(Object.entries(testedEngines))('run by %s', (_engine, judge) => {
    it.each(witnessLies)('accepts the proof that $what', ({ block, prove }) => {
      expect(judge(verdict(block, prove(block)))).toMatchObject({ ok: true })
    })

    it.each(witnessLies)('refuses, of the honest block, the proof that $what', ({ prove }) => {
      expect(judge(verdict(honestStory, prove(honestStory)))).toMatchObject({ ok: false })
    })
  })

  describe.each(strangelyReferring)('of an output whose reference script is $what', (of) => {
    const { coin, isDecoded } = of
    const block = storyWith({
      everything: { plutus: [locker], referenceInputs: [...everything.referenceInputs, coin] },
    })
    const proof = prove.scriptMissing(0, needs.minted(hashOf(minter)))(block)

    it(`${isDecoded ? 'takes' : 'does not take'} the script that a transaction needs`, () => {
      for (const judge of Object.values(testedEngines))
        expect(judge(verdict(block, proof))).toMatchObject({ ok: !isDecoded })
      const found = findWitnessFraud(block, parameters)
      expect(found?.proof.fraud).toBe(isDecoded ? undefined : 'scriptMissing')
    })
  })

  it('finds a script missing beside a number of eight bytes in the place of another', () => {
    const eight = new Uint8Array(8).fill(255)
    const changed = { plutus: [locker, { language: 'PlutusV1', bytes: eight }] } as const
    const { transactions } = storyWith({ everything: changed })
    const [first, ...others] = transactions.map((bytes) => Buffer.from(bytes)) as [Buffer, ...Buffer[]]
    const head = first.indexOf(Buffer.of(0x48, ...eight))
    const block = blockOf([first.fill(0x1b, head, head + 1), ...others], coinsBefore())
    const proof = prove.scriptMissing(0, needs.minted(hashOf(minter)))(block)
    for (const judge of Object.values(testedEngines))
      expect(judge(verdict(block, proof))).toMatchObject({ ok: true })
  })

  judgeWithoutRules({
    title: 'witness_fraud',
    parameters: languageParameters(parameters),
    breaches: witnessBreaches,
    encode: encodeWitnessFraudProof,
  })
})

describe('findWitnessFraud', () => {
  const judge = engines.cek

  it.each(witnessLies)('finds a fraud that the policy accepts where $what', ({ block, prove }) => {
    const found = findWitnessFraud(block, parameters)
    // Several rules may be broken: the redeemer of an absent script is extra, which is no fraud.
    expect(found).toMatchObject({ proof: { fraud: prove(block).fraud } })
    const { redeemer } = found!
    expect(judge(mintingOf({ script, redeemer, name: headerHash(block.header) }))).toMatchObject({
      ok: true,
    })
  })

  it('finds nothing in the honest block', () => {
    expect(findWitnessFraud(honestStory, parameters)).toBeUndefined()
  })

  it('finds what needs no outputs before the block where these are unknown', () => {
    const [badSignature, , , missingKey] = witnessLies
    const unknown = ({ outputBefore: _, ...block }: typeof honestStory) => block
    expect(findWitnessFraud(unknown(badSignature!.block), parameters)).toBeDefined()
    expect(findWitnessFraud(unknown(missingKey!.block), parameters)).toBeUndefined()
  })
})
