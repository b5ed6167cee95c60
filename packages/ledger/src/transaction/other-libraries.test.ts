import { isWellFormed, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildWithCml } from '../test/build-with-cml.js'
import { buildWithCsl } from '../test/build-with-csl.js'
import { type AssetPlan, type Plan, plan } from '../test/transaction-plan.js'
import { decodeTransaction } from './decode.js'

const settings = { numRuns: 100, seed: 0 }

/** Compares our decoding of a built transaction with the plan and with the library's own hash. */
function expectPlan(bytes: Uint8Array, hash: string, expected: Plan): void {
  expect(isWellFormed(bytes)).toBe(true)
  const { id, body, witnesses, auxiliaryData } = decodeTransaction(bytes)
  expect(toHex(id)).toBe(hash)
  const references = body.inputs.map(({ transactionId, index }) => `${toHex(transactionId)} ${index}`)
  expect(references.sort()).toEqual(
    expected.inputs.map(([bytes32, index]) => `${toHex(bytes32)} ${index}`).sort(),
  )
  body.outputs.forEach((output, index) => {
    const planned = expected.outputs[index]!
    expect(output.address.bytes).toEqual(planned.address)
    expect(output.value.lovelace).toBe(planned.lovelace)
    expect(flat(output.value.assets)).toEqual(planned.assets.map(flatAsset).sort())
    const kind = planned.datum === undefined ? 'none' : typeof planned.datum === 'bigint' ? 'inline' : 'hash'
    expect(output.datum.kind).toBe(kind)
  })
  expect(body.outputs).toHaveLength(expected.outputs.length)
  expect(body.fee).toBe(expected.fee)
  expect(body.validityInterval.invalidBefore).toBe(expected.invalidBefore)
  expect(body.validityInterval.invalidHereafter).toBe(expected.invalidHereafter)
  expect(flat(body.mint)).toEqual(expected.mint.map(flatAsset).sort())
  expect(body.requiredSigners.map(toHex).sort()).toEqual(expected.signers.map(toHex).sort())
  expect(body.networkId).toBe(expected.networkId)
  expect(body.scriptDataHash).toEqual(expected.dataHash)
  expect(body.treasuryDonation).toBe(expected.donation ?? 0n)
  expect(witnesses.keyWitnesses).toHaveLength(expected.witnesses)
  expect(auxiliaryData !== undefined).toBe(expected.metadata.size > 0)
}

const flatAsset = ([policy, name, quantity]: AssetPlan): string =>
  `${toHex(policy)} ${toHex(name)} ${quantity}`
const flat = (held: ReadonlyMap<string, ReadonlyMap<string, bigint>>): string[] =>
  [...held]
    .flatMap(([policy, names]) => [...names].map(([name, quantity]) => `${policy} ${name} ${quantity}`))
    .sort()

describe.each([
  ['CML', buildWithCml],
  ['CSL', buildWithCsl],
] as const)('a transaction that %s built', (_, build) => {
  it('is decoded to the same hash and content', () => {
    fc.assert(
      fc.property(plan, (wanted) => {
        const { bytes, hash } = build(wanted)
        expectPlan(bytes, hash, wanted)
      }),
      settings,
    )
  })
})
