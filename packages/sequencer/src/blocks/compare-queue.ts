import { genesisHeaderHash } from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { type BlockElement, type RootElement, soundBlocks } from '@ratatosk/protocol'
import type { Block, BlockState } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { foreignQueue } from '../errors.js'
import { isRemoved, pruneStale } from '../operations/remove.js'
import {
  alignRoots,
  blockLine,
  markCommitted,
  markMerged,
  returnBlocks,
  rootBefore,
  setState,
  undoBlocks,
} from './ledger-state.js'
import { readQueue } from './queue-elements.js'

const pageSize = 256n

/**
 * Makes the store agree with the whole queue on layer 1, after a removal, a roll-back or a long absence.
 * Blocks that layer 1 has removed are undone, and blocks that can therefore never be merged are pruned.
 * Blocks that layer 1 lacks otherwise become unconfirmed again; blocks that it has and that were removed here
 * are restored.
 *
 * @throws {SequencerError} `SEQUENCER_FOREIGN_QUEUE` when layer 1 has a block that this store never had; the
 *   store is unchanged then
 */
export async function compareQueue(context: SequencerContext): Promise<void> {
  const { store, cache } = context
  cache.requireComparison()
  const queue = await readQueue(context)
  const sound = soundBlocks(queue)
  const base = await knownState(context, queue.root)
  const expected = [
    ...base.removed.map(({ headerHash }) => headerHash),
    ...sound.map(({ headerHash }) => fromHex(headerHash)),
  ]
  const last = (await store.blocks.newest())?.height ?? 0n
  const common = await countCommon(context, base.height, last, expected)
  const present = base.height + BigInt(common)
  const next = present < last ? await store.blocks.byHeight(present + 1n) : undefined
  const before = elementAt(queue.root, sound, common - base.removed.length)
  if (next && before && (await isRemoved(context, next, before)))
    await undoBlocks(context, next.height, 'layer 1 has removed it from the state queue')
  if (sound.length < queue.blocks.length) {
    await pruneStale(context)
    return compareQueue(context)
  }
  const missing = await Promise.all(expected.slice(common).map((hash) => removedBlock(context, hash)))

  const left = (await store.blocks.newest())?.height ?? 0n
  const merged = base.height + BigInt(Math.min(base.removed.length, common))
  const hasChanged = await setStates(context, { merged, present, last: left })
  if (hasChanged || missing.length > 0) cache.layer1Changed()
  if (missing.length > 0 && present < left)
    await returnBlocks(context, present + 1n, 'layer 1 has another block in its place')
  for (const block of missing) await restore(context, block)
  cache.compared(queue.blocks.length)
}

/** The element with a number of blocks before it; undefined if it is merged. */
function elementAt(
  root: RootElement,
  blocks: readonly BlockElement[],
  count: number,
): RootElement | BlockElement | undefined {
  return count === 0 ? root : blocks[count - 1]
}

/**
 * The newest block of this store that the confirmed state includes, and the removed blocks from there to the
 * confirmed state.
 */
async function knownState(
  { store: { blocks }, cache }: SequencerContext,
  { datum: { state } }: RootElement,
): Promise<{ readonly height: bigint; readonly removed: readonly Block[] }> {
  const removed: Block[] = []
  let hash = state.headerHash
  while (!equalBytes(hash, genesisHeaderHash())) {
    const block = await blocks.byHash(hash)
    if (block === undefined)
      throw foreignQueue(`The confirmed state is block ${toHex(hash)}, which this store never had`)
    if (block.state !== 'removed') return { height: block.height, removed }
    removed.unshift(block)
    hash = block.previousHeaderHash
  }
  const first = removed[0] ?? (await blocks.byHeight(1n))
  const genesisRoot = first ? rootBefore(first) : cache.genesisRoot
  if (removed.length === 0 && genesisRoot && !equalBytes(genesisRoot, state.utxoRoot))
    throw foreignQueue('The state queue began with other genesis outputs than this ledger')
  return { height: 0n, removed }
}

/** The number of blocks above a height that are the same here and on layer 1. */
async function countCommon(
  { store: { blocks } }: SequencerContext,
  above: bigint,
  last: bigint,
  expected: readonly Uint8Array[],
): Promise<number> {
  let common = 0
  for (let from = above + 1n; from <= last; from += pageSize) {
    for (const { headerHash } of await blocks.range(from, from + pageSize - 1n)) {
      const other = expected[common]
      if (other === undefined || !equalBytes(headerHash, other)) return common
      common++
    }
  }
  return common
}

async function removedBlock({ store: { blocks } }: SequencerContext, hash: Uint8Array): Promise<Block> {
  const block = await blocks.byHash(hash)
  if (block?.state === 'removed') return block
  if (block !== undefined) throw foreignQueue(`The state queue lacks the block before ${toHex(hash)}`)
  throw foreignQueue(`The state queue holds block ${toHex(hash)}, which this store never had`)
}

interface Extent {
  /** Blocks up to this height are in the confirmed state. */
  readonly merged: bigint
  /** Blocks up to this height are on layer 1. */
  readonly present: bigint
  /** The height of the newest block. */
  readonly last: bigint
}

/** @returns whether there was anything to set */
async function setStates(context: SequencerContext, { merged, present, last }: Extent): Promise<boolean> {
  const { store, log } = context
  const confirmed = (await store.blocks.confirmed())?.height ?? 0n
  const lowest = (confirmed < merged ? confirmed : merged) + 1n
  const rolledBack: Block[] = []
  let hasChanged = false
  // From the top, so that no merged block is ever above an unmerged one.
  for (let to = last; to >= lowest; to -= pageSize) {
    const from = to - pageSize + 1n
    const page = await store.blocks.range(from < lowest ? lowest : from, to)
    const lost = page.filter(({ height, state }) => height > present && isOnLayer1(state))
    if (lost.length > 0) await setState(context, lost, 'submitted')
    const unmerged = page.filter(
      ({ height, state }) => height > merged && height <= present && state === 'merged',
    )
    if (unmerged.length > 0) await setState(context, unmerged, 'committed')
    const arrived = page.filter(
      ({ height, state }) => height > merged && height <= present && !isOnLayer1(state),
    )
    if (arrived.length > 0) await markCommitted(context, arrived)
    rolledBack.push(...lost, ...unmerged)
    hasChanged ||= arrived.length > 0
  }
  const toMerge = await unmergedBetween(context, lowest, merged)
  if (toMerge.length > 0) await markMerged(context, toMerge)
  if (rolledBack.length === 0) return hasChanged || toMerge.length > 0
  const heights = rolledBack.map(({ height }) => Number(height)).sort((a, b) => a - b)
  log.warn(
    { heights },
    `Layer 1 was rolled back: ${heights.length} blocks from height ${heights[0]} on have changed`,
  )
  return true
}

const isOnLayer1 = (state: BlockState): boolean =>
  state === 'committed' || state === 'mature' || state === 'merged'

async function unmergedBetween(
  { store: { blocks } }: SequencerContext,
  from: bigint,
  to: bigint,
): Promise<readonly Block[]> {
  if (to < from) return []
  return (await blocks.range(from, to)).filter(({ state }) => state !== 'merged')
}

/** Restores a removed block that layer 1 has. */
async function restore(context: SequencerContext, block: Block): Promise<void> {
  const { store, roots, log } = context
  const { headerHash, height, transactions, firstSequence, lastSequence, utxosRoot } = block
  await alignRoots(context, await store.blocks.newest())
  const oldest = await store.blocks.oldest(transactions)
  if (oldest[0]?.sequence !== firstSequence || oldest.at(-1)?.sequence !== lastSequence)
    throw foreignQueue(
      `The state queue holds block ${toHex(headerHash)}, whose transactions are not the oldest here`,
    )
  const applied = await roots.apply(oldest.map(({ cbor }) => cbor))
  context.step('roots-applied')
  if (!equalBytes(applied.utxosRoot, utxosRoot))
    throw new Error(`The transactions of block ${height} no longer lead to its utxos_root`)
  await store.blocks.revive(headerHash, context.lease)
  context.step('block-restored')
  log.warn(...blockLine(block, 'found on layer 1; restored'))
}
