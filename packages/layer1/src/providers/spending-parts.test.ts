import { CborWriter, concatBytes, isDecodeError } from '@ratatosk/cbor'
import { blake2b256, decodeTransaction, type OutputReference } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { spendingPartsOf } from './spending-parts.js'

const references = [3, 1, 2].map(
  (byte): OutputReference => ({ transactionId: new Uint8Array(32).fill(byte), index: byte }),
)

const listOf = (all: readonly OutputReference[], tagged: boolean): Uint8Array => {
  const writer = tagged ? new CborWriter().tag(258).array(all.length) : new CborWriter().array(all.length)
  for (const { transactionId, index } of all) writer.array(2).bytes(transactionId).uint(index)
  return writer.toBytes()
}

const units = new CborWriter().array(2).uint(1).uint(2).toBytes()

/** A transaction with these data as redeemers of its inputs. */
function withRedeemers(data: readonly Uint8Array[], isMap: boolean): Uint8Array {
  const redeemers = isMap ? new CborWriter().map(data.length) : new CborWriter().array(data.length)
  for (const [place, each] of data.entries())
    if (isMap) redeemers.array(2).uint(0).uint(place).array(2).raw(each).raw(units)
    else redeemers.array(4).uint(0).uint(place).raw(each).raw(units)
  const body = new CborWriter().map(4)
  body
    .uint(0)
    .raw(listOf(references.slice(0, 2), isMap))
    .uint(1)
    .array(0)
    .uint(2)
    .uint(0)
  body.uint(18).raw(listOf(references.slice(2), isMap))
  const witnesses = new CborWriter().map(1).uint(5).raw(redeemers.toBytes())
  return concatBytes(Uint8Array.of(0x84), body.toBytes(), witnesses.toBytes(), Uint8Array.of(0xf5, 0xf6))
}

const nested = (levels: number): Uint8Array =>
  concatBytes(new Uint8Array(levels).fill(0x81), Uint8Array.of(0x80))

test.each([false, true])('are those of the whole transaction, redeemers in a map: %s', (isMap) => {
  const data = [nested(3), new CborWriter().uint(7).toBytes()]
  const cbor = withRedeemers(data, isMap)
  const { id, body } = decodeTransaction(cbor)
  expect(spendingPartsOf(cbor)).toEqual({
    id,
    inputs: body.inputs,
    referenceInputs: body.referenceInputs,
    redeemers: new Map(data.entries()),
  })
})

test('are read whatever is in a redeemer', () => {
  const deep = nested(15_000)
  const cbor = withRedeemers([deep], true)
  const { redeemers, inputs } = spendingPartsOf(cbor)
  expect(redeemers.get(0)).toEqual(deep)
  expect(inputs).toEqual(references.slice(0, 2))
})

test('are in no other bytes', () => {
  const cbor = withRedeemers([nested(1)], false)
  for (const bytes of [new Uint8Array(), blake2b256(cbor), cbor.subarray(0, 50)])
    expect(() => spendingPartsOf(bytes)).toThrow(expect.toSatisfy(isDecodeError))
})
