import { equalBytes } from '@ratatosk/cbor'
import type { Trie, TrieOperation } from '@ratatosk/trie'
import type { BlockDiff } from './body.js'
import { createPauses, pause } from './pauses.js'

/** Operations of one turn, and of one update: a block of 10,000 transfers is one. */
const [operationsOfTurn, operationsAtOnce] = [8192, 40_000]

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
  const ofPiece = Math.max(leastOfPiece, Math.ceil(count / (mostPieces - 1)))
  await (isOne ? updateOnce(trie, diff) : updateInPieces(trie, diff, ofPiece))
}

async function updateOnce(trie: Trie, diff: BlockDiff): Promise<void> {
  const draft = trie.draft()
  const pauseIfDue = createPauses()
  for (const piece of piecesOf(diff, operationsOfTurn)) {
    draft.add(piece)
    await pauseIfDue()
  }
  draft.commit()
}

async function updateInPieces(trie: Trie, diff: BlockDiff, ofPiece: number): Promise<void> {
  const before = Uint8Array.from(trie.root)
  try {
    for (const piece of piecesOf(diff, ofPiece)) {
      trie.update(piece)
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

/** Operations of a diff, `length` at a time. */
function* piecesOf(diff: BlockDiff, length: number): Generator<readonly TrieOperation[], void> {
  let piece: TrieOperation[] = []
  for (const operation of operationsOfDiff(diff)) {
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
