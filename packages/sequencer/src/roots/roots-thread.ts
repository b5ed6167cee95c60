import { parentPort, workerData } from 'node:worker_threads'
import {
  type BlockInterval,
  createDerivation,
  createOutputTrie,
  type Derivation,
  decodeTransactionAt,
  fitOf,
  isBlockError,
  type OutputTrie,
  transactionsRoot,
} from '@ratatosk/block'
import { encodeOutputReference, type ValidityInterval } from '@ratatosk/ledger'
import { createMemoryStore, type Entry, isTrieError, proofToCbor } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { markIdle } from './exit-guard.js'
import {
  type Fault,
  type PackedBytes,
  type Request,
  type Response,
  type ThreadData,
  unpack,
  unpackOutputs,
} from './messages.js'
import type { BlockRoots, Misfits, RootsOptions, UnspentOutput } from './types.js'

// The program of the roots' thread. It serves one request at a time, until it is told to close.

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const { options, busy }: ThreadData = workerData
let rebuild: Rebuild | undefined
let ahead: Ahead | undefined

/** Nodes that are freed at once: some 10 ms. */
const freedAtOnce = 3000

try {
  const trie = open(options)
  port.on('message', (request: Request) => {
    void answer(trie, request)
      .then(
        (answer) => say({ answer }),
        (error: unknown) => say({ fault: faultOf(error) }),
      )
      .finally(() => {
        if (request.kind === 'close') port.close()
      })
  })
  say({ answer: undefined })
} catch (error) {
  say({ fault: faultOf(error) })
}

function open({ path, history = 64 }: RootsOptions): OutputTrie {
  return createOutputTrie({
    store: path === undefined ? createMemoryStore() : openLmdbStore({ path, freesLater: true }),
    history,
  })
}

function say(response: Response): void {
  markIdle(busy)
  port?.postMessage(response)
}

async function answer(trie: OutputTrie, { kind, request }: Request) {
  switch (kind) {
    case 'root':
      return Uint8Array.from(trie.root)
    case 'apply':
      return apply(trie, contentOf(request))
    case 'applyWithin':
      return applyWithin(trie, contentOf(request.transactions), request.interval)
    case 'prepare':
      return prepare(trie, request.transactions, request.after)
    case 'free':
      return trie.free(freedAtOnce)
    case 'revert':
      ahead = undefined
      return trie.revert(request)
    case 'prove': {
      const view = trie.at(request.root)
      if (view === undefined) return undefined
      const isUnspent = view.has(request.outref)
      const proof = isUnspent ? view.prove(request.outref) : view.proveAbsence(request.outref)
      return { isUnspent, proof: proofToCbor(proof) }
    }
    case 'beginRebuild':
      rebuild = beginRebuild(trie)
      return undefined
    case 'addToRebuild':
      return rebuild?.add(unpackOutputs(request))
    case 'endRebuild':
      ahead = undefined
      return rebuild?.end()
    case 'abandonRebuild':
      return rebuild?.abandon()
    case 'close':
      await trie.close()
      return undefined
  }
}

/**
 * What follows from the transactions of a block so far. They are not kept: collecting what lives that long
 * takes more time than decoding.
 */
interface Content {
  /** The validity intervals, by position. */
  readonly intervals: ValidityInterval[]
  readonly derivation: Derivation
}

/** What the next block is expected to begin with. The trie has prepared it. */
interface Ahead extends Content {
  readonly packed: PackedBytes[]
}

/**
 * The content of a block. What was prepared is used if the block begins with it; it is of no use for another
 * block.
 */
function contentOf(packed: PackedBytes): Content {
  const prepared = ahead !== undefined && beginsWith(packed, ahead.packed) ? ahead : undefined
  ahead = undefined
  const content = prepared ?? { intervals: [], derivation: createDerivation() }
  addTo(content, unpack(packed).slice(content.intervals.length))
  return content
}

function addTo({ intervals, derivation }: Content, items: readonly Uint8Array[]): void {
  for (const cbor of items) {
    const transaction = decodeTransactionAt(cbor, intervals.length)
    intervals.push(transaction.body.validityInterval)
    derivation.add(transaction)
  }
}

/** Whether the first byte strings are those of the pieces. */
function beginsWith({ bytes, ends }: PackedBytes, pieces: readonly PackedBytes[]): boolean {
  let item = 0
  let start = 0
  for (const piece of pieces) {
    const { length } = piece.bytes
    if (Buffer.compare(bytes.subarray(start, start + length), piece.bytes) !== 0) return false
    for (const end of piece.ends) if (ends[item++] !== start + end) return false
    start += length
  }
  return true
}

function prepare(trie: OutputTrie, packed: PackedBytes, after: number): number {
  const content = after === 0 ? { intervals: [], derivation: createDerivation(), packed: [] } : ahead
  ahead = undefined
  if (content?.intervals.length !== after) return 0
  try {
    addTo(content, unpack(packed))
    trie.prepareDerivation(content.derivation)
  } catch (error) {
    // Whoever applies the block is told.
    if (isBlockError(error)) return 0
    throw error
  }
  content.packed.push(packed)
  ahead = content
  return content.intervals.length
}

async function apply(trie: OutputTrie, { derivation }: Content): Promise<BlockRoots> {
  const before = Uint8Array.from(trie.root)
  const derived = trie.applyDerivation(derivation)
  try {
    return { utxosRoot: Uint8Array.from(trie.root), transactionsRoot: await transactionsRoot(derived) }
  } catch (error) {
    trie.revert(before)
    throw error
  }
}

async function applyWithin(
  trie: OutputTrie,
  content: Content,
  interval: BlockInterval,
): Promise<BlockRoots | Misfits> {
  const expired: number[] = []
  const notBegun: number[] = []
  for (const [position, validity] of content.intervals.entries()) {
    const fit = fitOf(validity, interval)
    if (fit === 'not begun') notBegun.push(position)
    else if (fit !== 'within') expired.push(position)
  }
  if (expired.length + notBegun.length > 0) return { expired, notBegun }
  return apply(trie, content)
}

/** A rebuild of the trie whose pieces arrive one by one. */
interface Rebuild {
  /** Resolves when the trie has taken the piece. */
  add(piece: readonly UnspentOutput[]): Promise<undefined>
  /** Builds the trie. Resolves with its root. */
  end(): Promise<Uint8Array>
  /** Leaves the trie as it was. */
  abandon(): Promise<undefined>
}

function beginRebuild(trie: OutputTrie): Rebuild {
  const { readable, writable } = new TransformStream<readonly UnspentOutput[], readonly UnspentOutput[]>()
  const feed = writable.getWriter()
  const built = trie.rebuild(entriesOf(readable))
  // Either may fail before something awaits it.
  built.catch(() => undefined)
  feed.closed.catch(() => undefined)

  return {
    async add(piece) {
      // A failed rebuild has the reason; the feed would only report that nothing reads it.
      await Promise.race([built, feed.write(piece)])
      return undefined
    },

    async end() {
      await Promise.race([built, feed.close()])
      return built
    },

    async abandon() {
      await feed.abort()
      await built.catch(() => undefined)
      return undefined
    },
  }
}

async function* entriesOf(pieces: AsyncIterable<readonly UnspentOutput[]>): AsyncGenerator<Entry, void> {
  for await (const piece of pieces) {
    for (const { transactionId, index, output } of piece)
      yield [encodeOutputReference({ transactionId, index }), output]
  }
}

function faultOf(error: unknown): Fault {
  if (isBlockError(error)) {
    const { code, message, reference, position } = error
    return {
      code,
      message,
      ...(reference !== undefined && { reference }),
      ...(position !== undefined && { position }),
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (isTrieError(error) && error.code === 'TRIE_STORE_CONFLICT')
    return { code: 'ROOTS_STORE_CONFLICT', message }
  if (isTrieError(error) && error.code === 'TRIE_STORE_CORRUPT')
    return { code: 'ROOTS_STORE_CORRUPT', message }
  return { code: 'ROOTS_FAILED', message }
}
