import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import type { Block } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { payoutsOf } from './follow-payouts.js'

const bytes = (byte: number) => new Uint8Array(32).fill(byte)
const paying = (...outrefs: readonly Uint8Array[]) =>
  encodePlutusData(
    constr(
      1,
      outrefs.map((outref) => [outref, new Uint8Array()]),
    ),
  )

/** Reads a chain of spendings behind the merge of a block, each with its redeemer. */
async function read(...redeemers: readonly Uint8Array[]) {
  let reads = 0
  const layer1 = {
    async spending() {
      const redeemer = redeemers[reads++]
      return redeemer && { transactionId: bytes(reads), redeemer }
    },
  }
  const block = { state: 'merged', mergeTransaction: { id: bytes(99) } } as unknown as Block
  const found = await payoutsOf({ layer1, blocks: { byHash: async () => block } }, bytes(0), undefined)
  return { found, reads: () => reads }
}

test('a stranger behind the last payout cannot rename it, nor have a chain followed', async () => {
  const [one, two, other] = [bytes(11), bytes(12), bytes(13)]
  const renamed = await read(paying(one), paying(two), paying(other, one), ...Array(50).fill(paying(two)))
  expect(renamed.found.get(one)).toEqual(bytes(1))
  expect(renamed.found.get(two)).toEqual(bytes(2))
  expect(renamed.found.get(other)).toBeUndefined()
  expect(renamed.reads()).toBe(3)
  const empty = await read(paying(one), ...Array(50).fill(paying()))
  expect(empty.found.size).toBe(1)
  expect(empty.reads()).toBe(2)
})
