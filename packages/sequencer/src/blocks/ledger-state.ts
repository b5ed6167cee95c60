import { decodeHeader } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Block, UnspentOutput } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { blockLine } from './block-states.js'

/** Outputs between two progress lines in the log. */
const progressEvery = 200_000

/**
 * Brings the output trie to the state after the store's newest block: leaves it, reverts it, or rebuilds it
 * from the ledger. The store is the record and the trie follows from it, so this repairs the trie after any
 * crash and after every change of blocks.
 *
 * @param newest the store's newest block; undefined when it has none
 * @throws Error when the ledger's outputs do not have the block's root: the database was changed from outside
 */
export async function alignRoots(context: SequencerContext, newest: Block | undefined): Promise<void> {
  const { roots, memory, log } = context
  const wanted = newest?.utxosRoot ?? memory.genesisRoot
  const present = await roots.root()
  if (wanted !== undefined) {
    if (equalBytes(present, wanted)) return
    if (await roots.revert(wanted)) {
      context.step('roots-aligned')
      return
    }
  }
  const startedAt = performance.now()
  const rebuilt = await roots.rebuild(ledgerWithProgress(context))
  context.step('roots-aligned')
  if (newest === undefined) memory.genesisRoot = rebuilt
  const ms = Math.round(performance.now() - startedAt)
  if (ms > 1000) log.info({ ms }, `Rebuilt the output trie from the ledger in ${ms} ms`)
  if (wanted === undefined || equalBytes(rebuilt, wanted)) return
  throw new Error(
    `The ledger's outputs do not have the root of block ${newest?.height ?? 0}: the database was changed from outside the node`,
  )
}

/** Root of the unspent outputs before a block. */
export const rootBefore = ({ header }: Block): Uint8Array => decodeHeader(header).prevUtxosRoot

/**
 * Returns the transactions of all unmerged blocks from a height on to the mempool, and the output trie to the
 * state before those blocks.
 *
 * @param reason completes the sentence "Block 7 removed: …"
 */
export async function returnBlocks(
  context: SequencerContext,
  fromHeight: bigint,
  reason: string,
): Promise<void> {
  const { store, log } = context
  const removed = await store.blocks.returnToMempool(fromHeight, context.lease)
  if (removed.length === 0) return
  context.step('block-returned')
  forgetBlocks(context, removed, reason)
  const transactions = removed.reduce((sum, block) => sum + block.transactions, 0)
  log.warn({ transactions }, `${transactions} transactions returned to the mempool`)
  await alignRoots(context, await store.blocks.newest())
}

/**
 * Takes ledger and output trie back to the state before a block that layer 1 has removed. Its transactions,
 * and all that were accepted after them, are resubmitted: what made the block invalid may be among them, and
 * they may depend on it.
 *
 * @param reason completes the sentence "Block 7 removed: …"
 */
export async function undoBlocks(
  context: SequencerContext,
  fromHeight: bigint,
  reason: string,
): Promise<void> {
  const { store, memory, log } = context
  const { blocks, transactions } = await store.blocks.undo(fromHeight, context.lease)
  if (blocks.length === 0) return
  memory.mayHaveResubmissions = true
  context.step('blocks-undone')
  forgetBlocks(context, blocks, reason)
  log.warn(
    { transactions },
    `The ledger is as it was before block ${fromHeight}: ${transactions} transactions are resubmitted`,
  )
  await alignRoots(context, await store.blocks.newest())
}

/** Forgets what was known about blocks that are no longer there. */
function forgetBlocks(
  { operator, memory, log }: SequencerContext,
  removed: readonly Block[],
  reason: string,
): void {
  for (const { commitTransaction, mergeTransaction } of removed) {
    operator.release(toHex(commitTransaction.id))
    if (mergeTransaction) operator.release(toHex(mergeTransaction.id))
  }
  const [first] = removed
  if (first?.height === 1n) memory.genesisRoot = rootBefore(first)
  memory.matureUpTo = 0n
  memory.referenceScripts = undefined
  memory.ahead = []
  for (const block of removed) log.warn(...blockLine(block, `removed: ${reason}`))
}

async function* ledgerWithProgress({
  store,
  log,
}: SequencerContext): AsyncIterable<readonly UnspentOutput[]> {
  let read = 0
  for await (const piece of store.blocks.utxosAfterNewest()) {
    yield piece
    const before = read
    read += piece.length
    if (Math.floor(read / progressEvery) > Math.floor(before / progressEvery))
      log.info({ outputs: read }, `Rebuilding the output trie from the ledger: ${read} outputs so far`)
  }
}
