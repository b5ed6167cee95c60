import { CborReader, CborWriter, compareBytes, defaultLimits, readList, readRecord } from '@ratatosk/cbor'
import { reasonOf } from './transaction.js'
import { isLeft, isOlder, type MapOutput, maxChunks } from './transactions-map.js'

/** A transaction of layer 2 has at most as many bytes, and a head of three in a body. */
const mostTransactionBytes = 16_384 + 3

/** No transaction that spends an output is smaller. */
const leastTransactionBytes = 47

/** The length of the body is the limit. */
const limits = { ...defaultLimits, maxLength: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY }

/** A deposit on layer 1 that a block credits: output 0 of its id. */
export interface AuditedDeposit {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** The parts of a body that the rest of it follows from. */
interface BodyContent {
  readonly transactions: readonly Uint8Array[]
  readonly deposits: readonly AuditedDeposit[]
}

/** The content of a body. @param mayCredit whether it may have deposits @throws DecodeError */
export function contentOfBody(body: Uint8Array, mayCredit: boolean): BodyContent {
  const reader = new CborReader(body, 0, body.length, limits)
  const transactions = readTransactions(reader)
  return { transactions, deposits: mayCredit ? readDeposits(reader) : [] }
}

/** The transactions of a body; none if its first list is unreadable or too long, which its audit reports. */
export function transactionsOfBody(body: Uint8Array): readonly Uint8Array[] {
  try {
    return readTransactions(new CborReader(body))
  } catch (error) {
    reasonOf(error)
    return []
  }
}

function readTransactions(reader: CborReader): readonly Uint8Array[] {
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

/** The deposits behind the transactions: the lists of outputs between them follow. */
function readDeposits(reader: CborReader): readonly AuditedDeposit[] {
  reader.skip()
  reader.skip()
  return readList(reader, (item) =>
    readRecord(item, 2, (pair) => ({ id: pair.readBytesOf(32), output: pair.readBytes() })),
  )
}

/** The canonical CBOR of the body that follows from its content and what that did to outputs. */
export function encodeBody(
  { transactions, deposits }: BodyContent,
  outputs: Iterable<MapOutput>,
): Uint8Array {
  const spent: Uint8Array[] = []
  const produced: { readonly outref: Uint8Array; readonly output: Uint8Array }[] = []
  for (const each of outputs) {
    const { outref, output } = each
    if (isOlder(each)) spent.push(outref)
    else if (isLeft(each) && output !== undefined) produced.push({ outref, output })
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
  writer.array(deposits.length)
  for (const { id, output } of [...deposits].sort((a, b) => compareBytes(a.id, b.id)))
    writer.array(2).bytes(id).bytes(output)
  return writer.array(0).toBytes()
}
