import {
  decodeOutputReference,
  decodeTransaction,
  effects,
  encodeOutputReference,
  isDecodeError,
  outputReferenceKey,
  type Transaction,
} from '@ratatosk/ledger'
import {
  createMemoryStore,
  createTrie,
  type Entry,
  type Operation,
  openLmdbStore,
  type TrieErrorCode,
} from '@ratatosk/trie'
import { RootsError } from './errors.js'
import type { BlockRoots, RootsOptions, UnspentOutput } from './types.js'

/** The trie of unspent outputs, on the thread that it blocks. */
export interface OutputTrie {
  root(): Uint8Array
  apply(transactions: readonly Uint8Array[]): Promise<BlockRoots>
  revert(root: Uint8Array): boolean
  rebuild(pieces: AsyncIterable<readonly UnspentOutput[]>): Promise<Uint8Array>
  close(): Promise<void>
}

export function openOutputTrie({ path, history = 64 }: RootsOptions): OutputTrie {
  const trie = orFault(() =>
    createTrie({ store: path === undefined ? createMemoryStore() : openLmdbStore({ path }), history }),
  )

  return {
    root: () => Uint8Array.from(trie.root),

    async apply(encoded) {
      const transactions = encoded.map(decode)
      // First, because this leaves nothing to take back.
      const transactionsRoot = await transactionsRootOf(transactions)
      // A block without transactions would take the place of an earlier state.
      if (transactions.length > 0) orFault(() => trie.update(operations(transactions)))
      return { utxosRoot: Uint8Array.from(trie.root), transactionsRoot }
    },

    revert(root) {
      if (Buffer.compare(trie.root, root) === 0) return true
      return orFault(() => {
        if (!trie.roots.some((kept) => Buffer.compare(kept, root) === 0)) return false
        trie.revert(root)
        return true
      })
    },

    async rebuild(pieces) {
      try {
        return Uint8Array.from(await trie.rebuild(entries(pieces)))
      } catch (error) {
        throw faultOf(error)
      }
    },

    close: () => trie.close(),
  }
}

function decode(bytes: Uint8Array, position: number): Transaction {
  try {
    return decodeTransaction(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const message = `Transaction ${position} of the block is malformed: ${error.message}`
    throw new RootsError('ROOTS_TRANSACTION_MALFORMED', message, { position })
  }
}

async function transactionsRootOf(transactions: readonly Transaction[]): Promise<Uint8Array> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  try {
    return Uint8Array.from(await trie.rebuild(transactions.map(({ id, bytes }): Entry => [id, bytes])))
  } catch (error) {
    if (!isTrieFault(error) || error.entries === undefined) throw error
    const [first, position] = error.entries
    const message = `Transactions ${first} and ${position} of the block are the same`
    throw new RootsError('ROOTS_TRANSACTION_REPEATED', message, { position })
  }
}

/** In the order of the block. The trie reduces them to their net effect, and finds what is spent before it is made. */
function* operations(transactions: readonly Transaction[]): Generator<Operation> {
  for (const transaction of transactions) {
    const { spent, produced } = effects(transaction)
    for (const reference of spent) yield { type: 'delete', key: encodeOutputReference(reference) }
    for (const { reference, output } of produced) {
      yield { type: 'insert', key: encodeOutputReference(reference), value: output.bytes }
    }
  }
}

async function* entries(pieces: AsyncIterable<readonly UnspentOutput[]>): AsyncGenerator<Entry> {
  for await (const piece of pieces) {
    for (const { transactionId, index, output } of piece) {
      yield [encodeOutputReference({ transactionId, index }), output]
    }
  }
}

function orFault<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw faultOf(error)
  }
}

/** Says what the trie's errors mean for outputs. */
function faultOf(error: unknown): unknown {
  if (!isTrieFault(error)) return error
  switch (error.code) {
    case 'TRIE_KEY_MISSING': {
      const reference = referenceOf(error.key)
      return new RootsError('ROOTS_INPUT_MISSING', `The output ${reference} is not unspent`, { reference })
    }
    case 'TRIE_KEY_EXISTS': {
      const reference = referenceOf(error.key)
      return new RootsError('ROOTS_OUTPUT_EXISTS', `The output ${reference} is there already`, { reference })
    }
    case 'TRIE_KEY_DUPLICATE':
      return new RootsError('ROOTS_OUTPUT_EXISTS', 'An output was given twice')
    case 'TRIE_STORE_CONFLICT':
      return new RootsError('ROOTS_STORE_CONFLICT', error.message)
    case 'TRIE_STORE_CORRUPT':
      return new RootsError('ROOTS_STORE_CORRUPT', error.message)
    default:
      return error
  }
}

/** What the trie's errors carry, each some of it. */
interface TrieFault {
  readonly code: TrieErrorCode
  readonly message: string
  readonly key?: Uint8Array
  readonly entries?: readonly [number, number]
}

function isTrieFault(error: unknown): error is TrieFault {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('TRIE_')
}

function referenceOf(key: Uint8Array = new Uint8Array()): string {
  return outputReferenceKey(decodeOutputReference(key))
}
