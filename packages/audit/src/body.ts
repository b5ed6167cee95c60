import { CborReader, CborWriter, compareBytes } from '@ratatosk/cbor'
import { maxChunks } from './chunks.js'
import type { MapOutput } from './transactions-map.js'

/** A transaction of layer 2 has at most as many bytes, and a head of three in a body. */
const mostTransactionBytes = 16_384 + 3

/** No transaction that spends an output is smaller. */
const leastTransactionBytes = 47

/** The transactions of a body. Throws DecodeError if its first list is unreadable or too long. */
export function transactionsOfBody(body: Uint8Array): readonly Uint8Array[] {
  const reader = new CborReader(body)
  reader.readArray()
  const start = reader.position
  const count = reader.readArray()
  const transactions: Uint8Array[] = []
  let room = maxChunks * mostTransactionBytes
  const most = room / leastTransactionBytes
  while (reader.hasNext(count, transactions.length)) {
    const from = reader.position
    transactions.push(reader.readBytes())
    room -= reader.position - from
    if (transactions.length > most || room < 0)
      throw reader.error('CBOR_OUT_OF_RANGE', 'more transactions than a block can have', start)
  }
  return transactions
}

/** The canonical CBOR of the body that follows from transactions and what they did to outputs. */
export function encodeBody(transactions: readonly Uint8Array[], outputs: Iterable<MapOutput>): Uint8Array {
  const spent: Uint8Array[] = []
  const produced: { readonly outref: Uint8Array; readonly output: Uint8Array }[] = []
  for (const { outref, created, spent: spentBy, output } of outputs) {
    if (created === 0) spent.push(outref)
    else if (spentBy === 0 && output !== undefined) produced.push({ outref, output })
  }
  spent.sort(compareBytes)
  produced.sort((a, b) => compareBytes(a.outref, b.outref))
  const length = transactions.reduce((sum, cbor) => sum + cbor.length + 9, 1024)
  const writer = new CborWriter(length).array(5).array(transactions.length)
  for (const cbor of transactions) writer.bytes(cbor)
  writer.array(spent.length)
  for (const outref of spent) writer.raw(outref)
  writer.array(produced.length)
  for (const { outref, output } of produced) writer.array(2).raw(outref).bytes(output)
  return writer.array(0).array(0).toBytes()
}
