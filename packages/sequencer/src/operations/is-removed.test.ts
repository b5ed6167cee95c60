import { fromHex, toHex } from '@ratatosk/cbor'
import type { Layer1, TransactionStatus } from '@ratatosk/layer1'
import type { RootElement } from '@ratatosk/protocol'
import { keyOf, signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { isRemoved } from './remove.js'

const idOf = (byte: string) => byte.repeat(32)
/** Which commit spent the element at `aa…#0`. */
const commit = signed(keyOf(1), {
  inputs: [{ transactionId: fromHex(idOf('aa')), index: 0 }],
  outputs: [5_000_000n],
})
const transaction = { id: fromHex(commit.id), cbor: commit.cbor }
const confirmed = (slot: bigint): TransactionStatus => ({
  kind: 'confirmed',
  slot,
  blockHash: idOf('00'),
  confirmations: 1,
})

/** @param element the transaction that the element before the block is an output of */
const wasRemoved = (element: string, statuses: { readonly [id: string]: TransactionStatus }) =>
  isRemoved(
    {
      layer1: { status: async (id) => statuses[toHex(id)] ?? { kind: 'unknown' } } as Layer1,
      signal: new AbortController().signal,
    },
    transaction,
    { utxo: { reference: { transactionId: fromHex(element), index: 0 } } } as RootElement,
  )

const another = idOf('bb')

test('a block was removed if another transaction replaced the element before it', async () => {
  expect(await wasRemoved(another, { [commit.id]: confirmed(10n), [another]: confirmed(11n) })).toBe(true)
  expect(await wasRemoved(another, { [commit.id]: confirmed(10n), [another]: confirmed(10n) })).toBe(true)
})

test.each([
  ['its commit is in no block: it was rolled back', another, { [another]: confirmed(11n) }],
  ['its commit waits again', another, { [commit.id]: { kind: 'pending' }, [another]: confirmed(11n) }],
  [
    'the element is what its commit spends: the queue is of an earlier moment than the status',
    idOf('aa'),
    { [commit.id]: confirmed(10n), [idOf('aa')]: confirmed(12n) },
  ],
  [
    'the element was replaced before its commit',
    another,
    { [commit.id]: confirmed(10n), [another]: confirmed(9n) },
  ],
  ['the element is from its commit', commit.id, { [commit.id]: confirmed(10n) }],
  ['the replacement is in no block', another, { [commit.id]: confirmed(10n) }],
] satisfies [string, string, Record<string, TransactionStatus>][])(
  'a block was not removed if %s',
  async (_why, element, statuses) => {
    expect(await wasRemoved(element, statuses)).toBe(false)
  },
)
