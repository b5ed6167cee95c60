import { equalBytes } from '@ratatosk/cbor'
import type { Trie, TrieOperation } from '@ratatosk/trie'
import type { BlockDiff } from './body.js'
import { createPauses, pause } from './pauses.js'

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
export async function updateByDiff(trie: Trie, diff: BlockDiff, history: number): Promise<void> {
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
  for (const piece of piecesOf(operations, operationsAdded)) {
    draft.add(piece)
    await pauseIfDue()
  }
  draft.commit()
}

async function updateInPieces(trie: Trie, operations: Iterable<TrieOperation>, count: number): Promise<void> {
  const before = Uint8Array.from(trie.root)
  const ofPiece = Math.max(leastOfPiece, Math.ceil(count / (mostPieces - 1)))
  try {
    for (const piece of piecesOf(operations, ofPiece)) {
      await updateOnce(trie, piece)
      await pause()
    }
  } catch (error) {
    await undoTo(trie, before)
    throw error
  }
}

/** Undoes updates, one in each turn of the event loop. */
export async function undoTo(trie: Trie, root: Uint8Array): Promise<void> {
  for (; !equalBytes(trie.root, root); await pause()) trie.undo()
}

/** Operations, `length` at a time. */
function* piecesOf(
  operations: Iterable<TrieOperation>,
  length: number,
): Generator<readonly TrieOperation[], void> {
  let piece: TrieOperation[] = []
  for (const operation of operations) {
    piece.push(operation)
    if (piece.length < length) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}

/** The trie operations of a block's diff. */
export function* operationsOfDiff({ spent, produced }: BlockDiff): Generator<TrieOperation, void> {
  for (const outref of spent) yield { type: 'delete', key: outref }
  for (const { outref, output } of produced) yield { type: 'insert', key: outref, value: output }
}
