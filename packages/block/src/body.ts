import { CborReader, CborWriter, compareBytes } from '@ratatosk/cbor'
import { profileLimits } from '@ratatosk/ledger'
import { frameHeads, maxChunks, mostInParts } from './derivation/chunks.js'
import { arrayHead, byteString, createFeed, type Grammar, keepingFeed, malformed, unsigned } from './feed.js'
import { atOnce, createPauses, inTurns, isStep, type Steps } from './turns.js'

/** A deposit on layer 1 that a block credits. */
export interface Deposit {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** CBOR of the output that the deposit becomes: output 0 of its id. */
  readonly output: Uint8Array
}

/** An output that a block brings, by a transaction or a deposit, and does not spend itself. */
export interface ProducedOutput {
  /** CBOR of the output reference, as `encodeOutputReference` of `@ratatosk/ledger` writes it. */
  readonly outref: Uint8Array
  /** CBOR of the output, byte for byte as in its transaction or deposit. */
  readonly output: Uint8Array
}

/**
 * The content of a block besides its header. Withdrawals follow from the transactions: the encoding has an
 * empty list for those that layer 1 orders, which block version 4 does not have.
 */
export interface BlockBody {
  /** CBOR of the transactions as submitted, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** CBOR of each output reference that the block spends and does not bring; ascending. */
  readonly spent: readonly Uint8Array[]
  /** The outputs that the block brings and neither spends nor lets leave; ascending by reference. */
  readonly produced: readonly ProducedOutput[]
  /** Ascending by id; none by default. */
  readonly deposits?: readonly Deposit[]
}

/** The changes of a block to the set of unspent outputs. */
export type BlockDiff = Pick<BlockBody, 'spent' | 'produced'>

/**
 * One part of a body, in the order of the encoding: every transaction, then every spent reference, then every
 * produced output, then every deposit.
 */
export type BodyPart =
  | { readonly kind: 'transaction'; readonly cbor: Uint8Array }
  | { readonly kind: 'spent'; readonly outref: Uint8Array }
  | ({ readonly kind: 'produced' } & ProducedOutput)
  | ({ readonly kind: 'deposit' } & Deposit)

/** Bytes that the transactions of a valid block take in a body: each has a head of three. */
const mostTransactionBytes = maxChunks * (profileLimits.transactionBytes + 3)

/** A chunk leaves out the head of a transaction, one byte. */
const longestProvable = mostInParts - frameHeads + 1

/**
 * No body of a valid block has more bytes. An input takes no fewer in a transaction than in `spent`, and an
 * output a third of what it takes in `produced`.
 */
export const maxBodyBytes = 4 * mostTransactionBytes

/** An array of two items, the first of them a byte string of 32. */
const outrefPrefix = Uint8Array.of(0x82, 0x58, 0x20)

/**
 * Sizes in bytes of the smallest transaction that spends an output, and of its smallest input and output.
 * They bound the references and outputs that may follow: a small body cannot claim much memory.
 */
const smallest = { transaction: 47, input: 36, output: 33 }

/** Bytes of the longest output that a deposit becomes: a layer-1 transaction of 16,384 holds its parts. */
const longestDeposit = 16_384
/** Bytes of the smallest deposit in a body. */
const smallestDeposit = 70

/**
 * Reads a body in its canonical encoding. The parts are views of the bytes.
 *
 * @throws {BlockError} `BLOCK_BODY_MALFORMED` on any other bytes; `BLOCK_BODY_TOO_LARGE`
 */
export function decodeBlockBody(bytes: Uint8Array, maxBytes = maxBodyBytes, mayCredit?: boolean): BlockBody {
  const feed = createFeed(
    bodyGrammar(() => undefined, maxBytes, mayCredit),
    maxBytes,
  )
  feed.push(bytes)
  feed.end()
  const { transactions, end } = atOnce(transactionsIn(bytes))
  return { transactions, ...atOnce(restIn(bytes, end)) }
}

/** A body with its encoding. All but its transactions is decoded when it is first read. */
export interface EncodedBody extends BlockBody {
  readonly bytes: Uint8Array
  readonly deposits: readonly Deposit[]
  /** Decodes `spent` and `produced`; other work runs meanwhile. */
  decodeDiff(): Promise<BlockDiff>
}

/**
 * The body of an encoding that {@link bodyGrammar} has parsed; other work runs meanwhile. All parts are views
 * of the bytes.
 *
 * @param bytes in the canonical encoding, which is not checked again
 */
export async function bodyOfEncoding(bytes: Uint8Array): Promise<EncodedBody> {
  const { transactions, end } = await inTurns(transactionsIn(bytes))
  let lists: DecodedRest | undefined
  const rest = (): DecodedRest => {
    lists ??= atOnce(restIn(bytes, end))
    return lists
  }
  return {
    bytes,
    transactions,
    get spent() {
      return rest().spent
    },
    get produced() {
      return rest().produced
    },
    get deposits() {
      return rest().deposits
    },
    async decodeDiff() {
      lists ??= await inTurns(restIn(bytes, end))
      return lists
    },
  }
}

type DecodedRest = Required<BodyRest>

function* transactionsIn(bytes: Uint8Array): Steps<{
  readonly transactions: readonly Uint8Array[]
  readonly end: number
}> {
  const reader = new CborReader(bytes)
  reader.readArray()
  const transactions: Uint8Array[] = []
  for (let left = reader.readArray(); left > 0; left--) {
    transactions.push(reader.readBytes())
    if (isStep(left)) yield
  }
  return { transactions, end: reader.position }
}

function* restIn(bytes: Uint8Array, start: number): Steps<DecodedRest> {
  const reader = new CborReader(bytes, start)
  const readOutref = (): Uint8Array => {
    const from = reader.position
    reader.readArray()
    reader.readBytes()
    reader.readUint()
    return reader.since(from)
  }
  const spent: Uint8Array[] = []
  for (let left = reader.readArray(); left > 0; left--) {
    spent.push(readOutref())
    if (isStep(left)) yield
  }
  const produced: ProducedOutput[] = []
  for (let left = reader.readArray(); left > 0; left--) {
    reader.readArray()
    produced.push({ outref: readOutref(), output: reader.readBytes() })
    if (isStep(left)) yield
  }
  const deposits: Deposit[] = []
  for (let left = reader.readArray(); left > 0; left--) {
    reader.readArray()
    deposits.push({ id: reader.readBytes(), output: reader.readBytes() })
    if (isStep(left)) yield
  }
  return { spent, produced, deposits }
}

/**
 * Parses a body in pieces and keeps their bytes, but no part of it: until a body is known to belong to a
 * header, a stranger could have sent it.
 *
 * @throws {BlockError} like {@link decodeBlockBody}
 */
export async function readEncodedBody(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = maxBodyBytes,
  mayCredit?: boolean,
): Promise<EncodedBody> {
  const feed = keepingFeed(
    createFeed(
      bodyGrammar(() => undefined, maxBytes, mayCredit),
      maxBytes,
    ),
    bodyOfEncoding,
  )
  for await (const piece of pieces) feed.push(piece)
  return feed.end()
}

/**
 * Decodes a body that arrives in pieces. Yields, after each piece, the parts that it completes.
 *
 * @throws {BlockError} like {@link decodeBlockBody}
 */
export async function* partsOfBody(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = maxBodyBytes,
): AsyncGenerator<readonly BodyPart[], void> {
  let parts: BodyPart[] = []
  const feed = createFeed(
    bodyGrammar((part) => parts.push(part), maxBytes),
    maxBytes,
  )
  for await (const piece of pieces) {
    feed.push(piece)
    if (parts.length > 0) yield parts
    parts = []
  }
  feed.end()
}

/**
 * The grammar of a body in its canonical encoding, for a {@link Feed} of a body or of a response that
 * contains one. With a limit, transactions that take more bytes than those of a valid block are refused too,
 * and one that no proof shows: then the summons convicts, which takes no such chunk as an answer.
 *
 * @param emit receives each part as soon as it is complete
 * @param maxBytes larger announced lengths are refused before their content arrives; infinite for a body that
 *   was verified before
 * @param mayCredit whether it may have deposits: by default, if it was verified before
 */
export function* bodyGrammar(
  emit: (part: BodyPart) => void,
  maxBytes: number,
  mayCredit = !Number.isFinite(maxBytes),
): Grammar<void> {
  if ((yield* arrayHead(maxBytes)) !== listCount) throw malformed(`a body has ${listCount} lists`)

  const isLimited = Number.isFinite(maxBytes)
  let room = isLimited ? Math.min(maxBytes, mostTransactionBytes) : maxBytes
  const longest = isLimited ? longestProvable : maxBytes
  const transactions = yield* arrayHead(room / smallest.transaction)
  let given = 0
  for (let i = 0; i < transactions; i++) {
    const cbor: Uint8Array = yield* byteString(Math.min(room, longest))
    room -= cbor.length
    given += cbor.length
    emit({ kind: 'transaction', cbor })
  }
  const most = (bytes: number): number => (isLimited ? given / bytes : maxBytes)

  let previous: Uint8Array | undefined
  const spent = yield* arrayHead(most(smallest.input))
  for (let i = 0; i < spent; i++) {
    const outref: Uint8Array = yield* outrefAfter(previous)
    emit({ kind: 'spent', outref })
    previous = outref
  }

  previous = undefined
  // Each output is a part of a transaction, or of a deposit, which follows.
  const spare = isLimited && mayCredit ? Math.max(0, maxBytes - given) : 0
  let left = isLimited ? given + spare : maxBytes
  const produced = yield* arrayHead(most(smallest.output) + spare / smallestDeposit)
  for (let i = 0; i < produced; i++) {
    if ((yield* arrayHead(maxBytes)) !== 2) throw malformed('a produced output is not a pair')
    const outref: Uint8Array = yield* outrefAfter(previous)
    const output: Uint8Array = yield* byteString(left)
    left -= output.length
    emit({ kind: 'produced', outref, output })
    previous = outref
  }

  previous = undefined
  const deposits = yield* arrayHead(maxBytes / smallestDeposit)
  if (deposits > 0 && !mayCredit) throw malformed('it has deposits, and there is no bridge')
  for (let i = 0; i < deposits; i++) {
    if ((yield* arrayHead(maxBytes)) !== 2) throw malformed('a deposit is not a pair')
    const id: Uint8Array = yield* byteString(32)
    if (id.length !== 32) throw malformed('the id of a deposit has another length than 32')
    if (previous !== undefined && compareBytes(previous, id) >= 0)
      throw malformed('deposits are not in ascending order')
    const output: Uint8Array = yield* byteString(longestDeposit)
    emit({ kind: 'deposit', id, output })
    previous = id
  }
  if ((yield* arrayHead(maxBytes)) > 0) throw malformed('orders are not supported')
}

/** The CBOR of an output reference that sorts after `previous`. */
function* outrefAfter(previous: Uint8Array | undefined): Grammar<Uint8Array> {
  const prefix = yield outrefPrefix.length
  if (compareBytes(prefix, outrefPrefix) !== 0) throw malformed('not an output reference')
  const id = yield 32
  const index = yield* unsigned(0xffff)
  const outref = new CborWriter(40).raw(outrefPrefix).raw(id).uint(index).toBytes()
  if (previous !== undefined && compareBytes(previous, outref) >= 0)
    throw malformed('output references are not in ascending order')
  return outref
}

/** The lists of a body: transactions, spent, produced, deposits, withdrawals. */
const listCount = 5

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

/** {@link encodeBlockBody}; other work runs meanwhile. A body that was sent has its encoding already. */
export async function encodeBlockBodyInTurns(body: BlockBody | EncodedBody): Promise<Uint8Array> {
  if ('bytes' in body) return body.bytes
  const { transactions, ...rest } = body
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
