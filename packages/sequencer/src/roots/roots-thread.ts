import { parentPort, workerData } from 'node:worker_threads'
import {
  type BlockInterval,
  createDerivation,
  createOutputTrie,
  decodeTransactionAt,
  fitOf,
  isBlockError,
  type OutputTrie,
  transactionsRoot,
} from '@ratatosk/block'
import { encodeOutputReference, type Transaction } from '@ratatosk/ledger'
import { createMemoryStore, type Entry, isTrieError, proofToCbor } from '@ratatosk/trie'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { markIdle } from './exit-guard.js'
import {
  type Fault,
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
    store: path === undefined ? createMemoryStore() : openLmdbStore({ path }),
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
      return apply(trie, unpack(request).map(decodeTransactionAt))
    case 'applyWithin':
      return applyWithin(trie, unpack(request.transactions).map(decodeTransactionAt), request.interval)
    case 'revert':
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
      return rebuild?.end()
    case 'abandonRebuild':
      return rebuild?.abandon()
    case 'close':
      await trie.close()
      return undefined
  }
}

async function apply(trie: OutputTrie, transactions: readonly Transaction[]): Promise<BlockRoots> {
  const derivation = createDerivation()
  for (const transaction of transactions) derivation.add(transaction)
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
  transactions: readonly Transaction[],
  interval: BlockInterval,
): Promise<BlockRoots | Misfits> {
  const expired: number[] = []
  const notBegun: number[] = []
  for (const [position, { body }] of transactions.entries()) {
    const fit = fitOf(body.validityInterval, interval)
    if (fit === 'not begun') notBegun.push(position)
    else if (fit !== 'within') expired.push(position)
  }
  if (expired.length + notBegun.length > 0) return { expired, notBegun }
  return apply(trie, transactions)
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
