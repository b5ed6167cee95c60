import { CborWriter } from '@ratatosk/ledger'
import type { BlockBody, BlockDiff } from './types.js'

/** Lists of a body: transactions, spent, produced, deposits, withdrawals. */
export const listCount = 5

/**
 * The canonical encoding of a body, which `docs/block-body.md` describes: equal bodies give equal bytes. Its lists are taken as
 * they come; those of `diffOf` are in order.
 *
 * @example
 * encodeBlockBody({ transactions: [], spent: [], produced: [] }) // 858080808080
 */
export function encodeBlockBody({ transactions, ...diff }: BlockBody): Uint8Array {
  const items = [opening(transactions.length), ...transactions.map(byteString), ...encodeDiff(diff)]
  return Uint8Array.from(Buffer.concat(items))
}

/**
 * The same, piece by piece, where the transactions come one after another: the diff is asked for when all have been taken.
 *
 * @param count how many transactions there are
 * @throws RangeError where there are more or fewer
 */
export async function* encodeBlockBodyStream(
  count: number,
  transactions: AsyncIterable<Uint8Array>,
  diff: () => BlockDiff,
): AsyncGenerator<Uint8Array, void> {
  yield opening(count)
  let taken = 0
  for await (const cbor of transactions) {
    yield byteString(cbor)
    taken++
  }
  if (taken !== count) throw new RangeError(`${taken} transactions instead of ${count}`)
  yield* encodeDiff(diff())
}

const opening = (transactions: number): Uint8Array =>
  new CborWriter(16).array(listCount).array(transactions).toBytes()

const byteString = (bytes: Uint8Array): Uint8Array => new CborWriter(bytes.length + 9).bytes(bytes).toBytes()

function* encodeDiff({ spent, produced }: BlockDiff): Generator<Uint8Array, void> {
  yield listHead(spent.length)
  yield* spent
  yield listHead(produced.length)
  for (const { outref, output } of produced) {
    yield new CborWriter(outref.length + output.length + 16).array(2).raw(outref).bytes(output).toBytes()
  }
  yield listHead(0)
  yield listHead(0)
}

const listHead = (size: number): Uint8Array => new CborWriter(9).array(size).toBytes()
