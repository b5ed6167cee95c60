import { CborWriter } from '@ratatosk/cbor'
import type { BlockBody } from './body.js'
import { createPauses } from './pauses.js'

/** The lists of a body: transactions, spent, produced, deposits, withdrawals. */
export const listCount = 5

/** The longest CBOR head. */
const headBytes = 9

/** Size in bytes from which a piece of the diff is handed out. */
const pieceBytes = 65_536

/**
 * The canonical encoding of a body, described in `docs/block-body.md`: equal bodies have equal bytes.
 *
 * @param body its `spent` and `produced` must be in ascending order, as {@link bodyOf} returns them
 * @example
 * encodeBlockBody({ transactions: [], spent: [], produced: [] }) // 858080808080
 */
export function encodeBlockBody({ transactions, ...rest }: BlockBody): Uint8Array {
  const capacity = transactions.reduce((sum, { length }) => sum + length + headBytes, 2 * headBytes)
  const writer = writeOpening(new CborWriter(capacity), transactions.length)
  for (const cbor of transactions) writer.bytes(cbor)
  for (const piece of piecesOf(rest)) writer.raw(piece)
  return writer.toBytes()
}

/** {@link encodeBlockBody}; other work runs meanwhile. */
export async function encodeBlockBodyInTurns({ transactions, ...rest }: BlockBody): Promise<Uint8Array> {
  const capacity = transactions.reduce((sum, { length }) => sum + length + headBytes, 2 * headBytes)
  const writer = writeOpening(new CborWriter(capacity), transactions.length)
  const pauseIfDue = createPauses()
  for (const cbor of transactions) writer.bytes(cbor)
  for (const piece of piecesOf(rest)) {
    writer.raw(piece)
    await pauseIfDue()
  }
  return writer.toBytes()
}

/** All of a body but its transactions. */
type BodyRest = Omit<BlockBody, 'transactions'>

/**
 * The canonical encoding in pieces, for transactions that are read one after another. `rest` is called after
 * the last of them.
 *
 * @param count the number of transactions
 * @throws RangeError when `transactions` yields another number of them
 */
export async function* encodeBlockBodyStream(
  count: number,
  transactions: AsyncIterable<Uint8Array>,
  rest: () => BodyRest,
): AsyncGenerator<Uint8Array, void> {
  yield writeOpening(new CborWriter(2 * headBytes), count).toBytes()
  let written = 0
  for await (const cbor of transactions) {
    yield new CborWriter(cbor.length + headBytes).bytes(cbor).toBytes()
    written++
  }
  if (written !== count) throw new RangeError(`${written} transactions instead of ${count}`)
  yield* piecesOf(rest())
}

function writeOpening(writer: CborWriter, transactions: number): CborWriter {
  return writer.array(listCount).array(transactions)
}

function* piecesOf({ spent, produced, deposits = [] }: BodyRest): Generator<Uint8Array, void> {
  let writer = new CborWriter().array(spent.length)
  let length = 0
  function* add(bytes: number): Generator<Uint8Array, void> {
    length += bytes
    if (length < pieceBytes) return
    yield writer.toBytes()
    writer = new CborWriter(pieceBytes)
    length = 0
  }
  for (const outref of spent) {
    writer.raw(outref)
    yield* add(outref.length)
  }
  writer.array(produced.length)
  for (const { outref, output } of produced) {
    writer.array(2).raw(outref).bytes(output)
    yield* add(outref.length + output.length)
  }
  writer.array(deposits.length)
  for (const { id, output } of deposits) {
    writer.array(2).bytes(id).bytes(output)
    yield* add(id.length + output.length)
  }
  yield writer.array(0).toBytes()
}
