import { equalBytes } from '@ratatosk/cbor'
import { decodeOutputReference, outputReferenceKey } from '@ratatosk/ledger'
import {
  createTrie,
  isTrieError,
  type Trie,
  type TrieDraft,
  type TrieEntry,
  type TrieOperation,
  type TrieStore,
  type TrieView,
} from '@ratatosk/trie'
import type { BlockDiff } from './body.js'
import type { Derivation, DerivedBlock } from './derivation/derive.js'
import { BlockError, type BlockErrorDetails } from './errors.js'
import type { Header } from './header.js'
import { createPauses, inPieces, pause } from './turns.js'

/** The unspent outputs as a header's root commits to them: output reference CBOR → output CBOR. */
export interface OutputTrie {
  /** Root of the present state, 32 bytes; zeros when there is no unspent output. */
  readonly root: Uint8Array
  /** The number of unspent outputs. */
  readonly size: number
  /** Whether an output is unspent. @param outref CBOR of its reference */
  has(outref: Uint8Array): boolean
  /**
   * Blake2b-256 of an unspent output's CBOR; undefined when it is not unspent.
   *
   * @param outref CBOR of its reference
   */
  outputHash(outref: Uint8Array): Uint8Array | undefined
  /**
   * Applies the transactions of a block as one update, and derives their map from the outputs that it spends
   * and reads.
   *
   * @throws {BlockError} the derivation's `fault`, `BLOCK_INPUT_MISSING` or `BLOCK_OUTPUT_EXISTS`; the trie
   *   is
   *   unchanged then
   */
  applyDerivation(derivation: Derivation): DerivedBlock
  /**
   * Does ahead what {@link OutputTrie.applyDerivation} has to do for the transactions that a derivation holds
   * so far. Nothing changes. The derivation can be applied as long as no other change is made to the trie;
   * then it is of no use.
   *
   * @throws {BlockError} like {@link OutputTrie.applyDerivation}; the derivation is of no use then
   */
  prepareDerivation(derivation: Derivation): void
  /**
   * Applies a diff, whatever a header says. If the trie keeps enough states, a large one is applied in up to
   * 64 updates; other work runs meanwhile, which must not change the trie.
   *
   * @throws {BlockError} (rejects) `BLOCK_INPUT_MISSING` or `BLOCK_OUTPUT_EXISTS`; the trie is unchanged then
   */
  applyDiff(diff: BlockDiff): Promise<void>
  /**
   * Applies a block like {@link OutputTrie.applyDiff}, and verifies that its header has the roots of the
   * states before and after it.
   *
   * @throws {BlockError} (rejects) `BLOCK_INVALID` otherwise; the trie is unchanged then
   */
  applyBlock(diff: BlockDiff, header: Pick<Header, 'prevUtxosRoot' | 'utxosRoot'>): Promise<void>
  /**
   * Returns to the newest kept state with this root and forgets the states after it.
   *
   * @returns false when no such state is kept; nothing has changed then, and {@link OutputTrie.rebuild} is
   *   needed
   */
  revert(root: Uint8Array): boolean
  /** The same, one update in each turn of the event loop. Nothing else may change the trie meanwhile. */
  revertInTurns(root: Uint8Array): Promise<boolean>
  /**
   * Frees memory or disk of states that are no longer kept, if the store leaves that to its user.
   *
   * @param limit the number of nodes after which it stops; some 300,000 a second
   * @returns how many are left that are worth it
   */
  free(limit: number): number
  /**
   * Replaces the whole set, its history included. The set stays as it was until the last entry has come, and
   * when the iterable throws.
   *
   * @param outputs output reference CBOR and output CBOR, in any order
   * @returns the new root
   * @throws {BlockError} `BLOCK_OUTPUT_EXISTS` when a reference occurs twice
   */
  rebuild(outputs: Iterable<TrieEntry> | AsyncIterable<TrieEntry>): Promise<Uint8Array>
  /**
   * The newest kept state with this root, to prove what it holds; undefined when no such state is kept. Its
   * methods throw a TrieError `TRIE_ROOT_UNKNOWN` once it is no longer kept.
   */
  at(root: Uint8Array): TrieView | undefined
  /** Closes the trie's store. */
  close(): Promise<void>
}

/** A derivation on its way into the trie. */
interface Begun {
  readonly derivation: Derivation
  readonly draft: TrieDraft
  /** Whether the transactions change nothing. */
  isEmpty: boolean
  /** Hashes of outputs before the block, by the arrays that the derivation gives, not by their content. */
  readonly before: Map<Uint8Array, Uint8Array | undefined>
}

/** Where an {@link OutputTrie} keeps its nodes, and how far back it can go. */
export interface OutputTrieOptions {
  /**
   * `createMemoryStore()` of `@ratatosk/trie` or `openLmdbStore({ path })` of `@ratatosk/trie/lmdb`. The trie
   * owns it from now on.
   */
  readonly store: TrieStore
  /** The number of earlier states that can be reverted to. @defaultValue 64 */
  readonly history?: number
}

/**
 * Opens the trie of unspent outputs in the state that its store holds.
 *
 * @throws RangeError when `history` is not a whole number from 0
 * @example
 * import { createMemoryStore } from '@ratatosk/trie'
 * const trie = createOutputTrie({ store: createMemoryStore() })
 * await trie.rebuild(genesis)
 * trie.applyBlock(body, decodeHeader(header))
 */
export function createOutputTrie({ store, history = 64 }: OutputTrieOptions): OutputTrie {
  const trie = createTrie({ store, history })

  const isKept = (root: Uint8Array): boolean => trie.roots.some((kept) => equalBytes(kept, root))

  /** The derivation that is prepared. */
  let prepared: Begun | undefined

  const update = (diff: BlockDiff): Promise<void> => updateByDiff(trie, diff, history).catch(refuse)

  /** Adds to the draft of a derivation what is new in it. After an error, the derivation is of no use. */
  function advance(derivation: Derivation): Begun {
    const before = prepared
    prepared = undefined
    if (derivation.fault !== undefined) throw derivation.fault
    const begun =
      before?.derivation === derivation
        ? before
        : { derivation, draft: trie.draft(), isEmpty: true, before: new Map() }
    const operations = derivation.operations()
    if (operations.length === 0) return begun
    begun.isEmpty = false
    try {
      begun.draft.add(operations, (outref, outputHash) => begun.before.set(outref, outputHash))
    } catch (error) {
      refuse(error)
    }
    return begun
  }

  return {
    get root() {
      return trie.root
    },

    get size() {
      return trie.size
    },

    has: trie.has,
    outputHash: trie.valueHash,

    applyDerivation(derivation) {
      const { draft, isEmpty, before } = advance(derivation)
      for (const outref of derivation.read()) before.set(outref, trie.valueHash(outref))
      // An update without operations would displace an earlier state from the history.
      if (!isEmpty) draft.commit()
      return derivation.derive((outref) => before.get(outref))
    },

    prepareDerivation(derivation) {
      prepared = advance(derivation)
    },

    free: trie.free,

    applyDiff: update,

    async applyBlock(diff, header) {
      if (!equalBytes(trie.root, header.prevUtxosRoot))
        throw invalid('The block does not begin with the state after the previous block')
      const before = Uint8Array.from(trie.root)
      try {
        await update(diff)
      } catch (error) {
        if (!(error instanceof BlockError)) throw error
        const { message, reference } = error
        throw invalid(message, { cause: error, ...(reference !== undefined && { reference }) })
      }
      if (equalBytes(trie.root, header.utxosRoot)) return
      await undoTo(trie, before)
      throw invalid('The block does not lead to the utxos_root of its header')
    },

    revert(root) {
      if (!isKept(root)) return false
      trie.revert(root)
      return true
    },

    async revertInTurns(root) {
      if (!isKept(root)) return false
      await undoTo(trie, root)
      return true
    },

    rebuild: async (outputs) => Uint8Array.from(await trie.rebuild(outputs).catch(refuse)),
    at: (root) => (isKept(root) ? trie.at(root) : undefined),
    close: () => trie.close(),
  }
}

const invalid = (message: string, details?: BlockErrorDetails): BlockError =>
  new BlockError('BLOCK_INVALID', message, details)

/** Translates a trie error to outputs, and throws it. */
function refuse(error: unknown): never {
  if (!isTrieError(error)) throw error
  const reference = error.key && outputReferenceKey(decodeOutputReference(error.key))
  const details = { cause: error, ...(reference !== undefined && { reference }) }
  switch (error.code) {
    case 'TRIE_KEY_MISSING':
      throw new BlockError('BLOCK_INPUT_MISSING', `The output ${reference} is not unspent`, details)
    case 'TRIE_KEY_EXISTS':
      throw new BlockError('BLOCK_OUTPUT_EXISTS', `The output ${reference} already exists`, details)
    case 'TRIE_KEY_DUPLICATE':
      throw new BlockError('BLOCK_OUTPUT_EXISTS', 'An output occurs twice', details)
    default:
      throw error
  }
}

/** Operations that are added at a time, and of one update: a block of 10,000 transfers is one. */
const [operationsAdded, operationsAtOnce] = [2048, 40_000]

/** The most updates that a diff takes: no body names more outputs than 503,143. */
const mostPieces = 64
/** Operations of an update, at least: each is a transaction of the trie's store. */
const leastOfPiece = 2048

/**
 * Applies a diff to a trie of outputs, or nothing of it; other work runs meanwhile, which must not change the
 * trie. A large one takes several updates if the trie keeps enough states.
 *
 * @param history number of earlier states that it keeps
 * @throws {TrieError} (rejects) `TRIE_KEY_EXISTS`, `TRIE_KEY_MISSING`
 */
async function updateByDiff(trie: Trie, diff: BlockDiff, history: number): Promise<void> {
  const count = diff.spent.length + diff.produced.length
  // An update without operations would displace an earlier state from the history.
  if (count === 0) return
  const isOne = count <= operationsAtOnce || history < mostPieces
  const operations = operationsOfDiff(diff)
  await (isOne ? updateOnce(trie, operations) : updateInPieces(trie, operations, count))
}

/** Adds the operations in turns; writing them takes one. */
async function updateOnce(trie: Trie, operations: Iterable<TrieOperation>): Promise<void> {
  const draft = trie.draft()
  const pauseIfDue = createPauses()
  for (const piece of inPieces(operations, operationsAdded)) {
    draft.add(piece)
    await pauseIfDue()
  }
  draft.commit()
}

async function updateInPieces(trie: Trie, operations: Iterable<TrieOperation>, count: number): Promise<void> {
  const before = Uint8Array.from(trie.root)
  const ofPiece = Math.max(leastOfPiece, Math.ceil(count / (mostPieces - 1)))
  try {
    for (const piece of inPieces(operations, ofPiece)) {
      await updateOnce(trie, piece)
      await pause()
    }
  } catch (error) {
    await undoTo(trie, before)
    throw error
  }
}

/** Undoes updates, one in each turn of the event loop. */
async function undoTo(trie: Trie, root: Uint8Array): Promise<void> {
  for (; !equalBytes(trie.root, root); await pause()) trie.undo()
}

/** The trie operations of a block's diff. */
export function* operationsOfDiff({ spent, produced }: BlockDiff): Generator<TrieOperation, void> {
  for (const outref of spent) yield { type: 'delete', key: outref }
  for (const { outref, output } of produced) yield { type: 'insert', key: outref, value: output }
}
