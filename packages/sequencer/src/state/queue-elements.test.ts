import { BytesSet, CborWriter } from '@ratatosk/cbor'
import { decodeTransaction, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { pendingTransactions } from './queue-elements.js'

/** A transaction that spends an output, gives one as collateral and reads one. */
function transaction(spent: OutputReference, collateral: OutputReference, read: OutputReference) {
  const body = new CborWriter(256).map(5)
  body.uint(0).array(1).raw(encodeOutputReference(spent))
  body.uint(1).array(0).uint(2).uint(0)
  body.uint(13).array(1).raw(encodeOutputReference(collateral))
  body.uint(18).array(1).raw(encodeOutputReference(read))
  const rest = Uint8Array.of(0xf6)
  const cbor = new CborWriter(256).array(4).raw(body.toBytes()).map(0).boolean(true).raw(rest).toBytes()
  return { id: decodeTransaction(cbor).id, cbor }
}

const elsewhere = (n: number) => ({ transactionId: new Uint8Array(32).fill(n), index: 0 })
const merge = transaction(elsewhere(1), elsewhere(2), elsewhere(3))
const made = { transactionId: merge.id, index: 0 }

test.each([
  ['spends', transaction(made, elsewhere(4), elsewhere(5))],
  ['gives as collateral', transaction(elsewhere(4), made, elsewhere(5))],
  ['reads', transaction(elsewhere(4), elsewhere(5), made)],
])('a commit comes after the merge whose output it %s', (_does, commit) => {
  const pending = pendingTransactions(
    [{ state: 'submitted', commitTransaction: commit }] as unknown as Block[],
    [{ state: 'mature', mergeTransaction: merge }] as unknown as Block[],
    new BytesSet(),
  )
  expect(pending.map(({ kind }) => kind)).toEqual(['merge', 'commit'])
})
