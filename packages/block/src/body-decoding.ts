import { CborReader, CborWriter, compareBytes } from '@ratatosk/cbor'
import { profileLimits } from '@ratatosk/ledger'
import type { BlockBody, BlockDiff, BodyPart, Deposit, ProducedOutput } from './body.js'
import { listCount } from './body-encoding.js'
import { frameHeads, maxChunks, mostInParts } from './derivation/chunks.js'
import { arrayHead, byteString, createFeed, type Grammar, keepingFeed, malformed, unsigned } from './feed.js'
import { atOnce, inTurns, isStep, type Steps } from './steps.js'

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
  const { add, body } = collectParts()
  const feed = createFeed(bodyGrammar(add, maxBytes, mayCredit), maxBytes)
  feed.push(bytes)
  feed.end()
  return body
}

/** Collects the parts of a body. `body` grows with each part. */
export function collectParts(): { add(part: BodyPart): void; readonly body: BlockBody } {
  const transactions: Uint8Array[] = []
  const spent: Uint8Array[] = []
  const produced: ProducedOutput[] = []
  const deposits: Deposit[] = []
  return {
    body: { transactions, spent, produced, deposits },
    add(part) {
      if (part.kind === 'transaction') transactions.push(part.cbor)
      else if (part.kind === 'spent') spent.push(part.outref)
      else if (part.kind === 'produced') produced.push({ outref: part.outref, output: part.output })
      else deposits.push({ id: part.id, output: part.output })
    },
  }
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
  let lists: BodyRest | undefined
  const rest = (): BodyRest => {
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

type BodyRest = Required<Omit<BlockBody, 'transactions'>>

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

function* restIn(bytes: Uint8Array, start: number): Steps<BodyRest> {
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
