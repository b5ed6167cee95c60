import { decodeHeader, depositsRoot, encodedHeader, genesisHeaderHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { Layer1Error } from '@ratatosk/layer1'
import { type BlockElement, type RootElement, soundBlocks } from '@ratatosk/protocol'
import type { Block, BlockState } from '@ratatosk/store'
import { adoptBlock } from '../adoption/adopt-block.js'
import { fetchHeader } from '../adoption/fetch.js'
import { canReturn, oldestAdopted } from '../adoption/lost-blocks.js'
import type { SequencerContext } from '../context.js'
import { foreignQueue, type SequencerError } from '../errors.js'
import { creditedOf } from '../state/deposits.js'
import { forgetReplaced } from '../state/forget-deposits.js'
import {
  alignRoots,
  applyGenesis,
  blockLine,
  markCommitted,
  markMerged,
  returnBlocks,
  rootBefore,
  setState,
  undoBlocks,
} from '../state/ledger-state.js'
import { readQueue } from '../state/queue-elements.js'
import { isRemoved, pruneStale } from './prune.js'

const pageSize = 256n

/**
 * Makes the store agree with the whole queue on layer 1, after a removal, a roll-back or a long absence.
 * @throws {SequencerError} `SEQUENCER_FOREIGN_QUEUE` when layer 1 has a block that this store never had and
 *   does not adopt; without means to adopt, the store is unchanged then
 */
export async function compareQueue(context: SequencerContext): Promise<void> {
  const { store, cache } = context
  cache.comparison = undefined
  // The tip first, so that the queue is at least as recent.
  const { slot } = await context.layer1.tip({ signal: context.signal })
  const queue = await readQueue(context)
  const sound = soundBlocks(queue)
  const base = await knownState(context, queue.root)
  const expected = [...base.removed, ...sound.map(headerOf)]
  const last = (await store.blocks.newest())?.height ?? 0n
  // The queue may have been begun by another operator.
  if (last === 0n && context.adoption !== undefined) await applyGenesis(context)
  const common = await countCommon(context, base.height, last, expected)
  const present = base.height + BigInt(common)
  const next = present < last ? await store.blocks.byHeight(present + 1n) : undefined
  const before = elementAt(queue.root, sound, common - base.removed.length)
  const commit = next?.commitTransaction
  if (next && commit && before && (await isRemoved(context, commit, before)))
    await undoBlocks(context, next.height, 'layer 1 has removed it from the state queue')
  if (sound.length < queue.blocks.length) {
    await pruneStale(context)
    return compareQueue(context)
  }
  const missing = await Promise.all(expected.slice(common).map((header) => missingBlock(context, header)))

  let left = (await store.blocks.newest())?.height ?? 0n
  const lost = await oldestAdopted(context, present + 1n, left)
  if (lost !== undefined && missing.length === 0 && (await canReturn(context, lost, slot)))
    throw new Layer1Error(
      'LAYER1_INVALID_ANSWER',
      `Layer 1 lacks block ${lost} of another operator: it may be an older state, or the block may return`,
    )
  const merged = base.height + BigInt(Math.min(base.removed.length, common))
  const hasChanged = await setStates(context, { merged, present, last: left })
  const [first] = missing
  const isKnown = first === undefined || cache.isObstacle(first.headerHash)
  if (hasChanged || !isKnown) cache.layer1Changed()
  if (lost !== undefined) {
    if (slot < cache.adoptedAt)
      throw new Layer1Error('LAYER1_INVALID_ANSWER', 'Layer 1 shows an older state than it has shown before')
    // Their operators may commit them again; this one has nothing to send again.
    await undoBlocks(context, lost, 'layer 1 no longer has it')
    left = lost - 1n
  }
  if (missing.length > 0 && present < left)
    await returnBlocks(context, present + 1n, 'layer 1 has another block in its place')
  await takeIn(context, missing, base.removed.length - common, slot)
  cache.comparison = { at: performance.now(), blocks: queue.blocks.length }
}

/** Restores or adopts layer 1's blocks after the newest one; `merged` of them are in the confirmed state. */
async function takeIn(
  context: SequencerContext,
  missing: readonly MissingBlock[],
  merged: number,
  slot: bigint,
): Promise<void> {
  const { cache } = context
  if (missing.length > 0) cache.adoptedAt = slot
  for (const [place, block] of missing.entries()) {
    const reason = await takeInOne(context, block, place < merged)
    if (reason === undefined) continue
    if (place < merged) throw reason
    cache.obstacle = { headerHash: block.headerHash, reason }
    return
  }
  cache.obstacle = undefined
}

/** @returns why it can be neither restored nor adopted */
async function takeInOne(
  context: SequencerContext,
  { own, ...missing }: MissingBlock,
  isMerged: boolean,
): Promise<SequencerError | undefined> {
  const { cache, adoption } = context
  if (own !== undefined && (await restore(context, own))) return undefined
  if (adoption === undefined)
    throw foreignQueue(
      `The state queue holds block ${toHex(missing.headerHash)}, whose transactions are not the oldest here`,
    )
  const { reason } = cache.obstacle ?? {}
  // That it breaks a rule does not change.
  if (reason?.code === 'SEQUENCER_INVALID_BLOCK' && cache.isObstacle(missing.headerHash)) return reason
  return adoptBlock(context, adoption, missing, isMerged)
}

interface QueuedHeader {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** A block that layer 1 has and this store lacks. */
interface MissingBlock extends QueuedHeader {
  /** As this operator committed it, if it did. */
  readonly own: Block | undefined
}

function headerOf({ datum }: BlockElement): QueuedHeader {
  const { bytes, hash } = encodedHeader(datum.header)
  return { headerHash: hash, header: bytes }
}

/** The element with a number of blocks before it; undefined if it is merged. */
function elementAt(
  root: RootElement,
  blocks: readonly BlockElement[],
  count: number,
): RootElement | BlockElement | undefined {
  return count === 0 ? root : blocks[count - 1]
}

/** The newest block of this store that the confirmed state includes, and the removed blocks after it. */
async function knownState(
  context: SequencerContext,
  { datum: { state } }: RootElement,
): Promise<{ readonly height: bigint; readonly removed: readonly QueuedHeader[] }> {
  const { blocks } = context.store
  const { cache } = context
  const backwards: QueuedHeader[] = []
  let hash = state.headerHash
  while (!equalBytes(hash, genesisHeaderHash())) {
    const block = await blocks.byHash(hash)
    if (block !== undefined && block.state !== 'removed')
      return { height: block.height, removed: backwards.reverse() }
    const header = block?.header ?? (await fetchHeader(context, hash))
    if (header === undefined)
      throw foreignQueue(`The confirmed state is block ${toHex(hash)}, which this store never had`)
    backwards.push({ headerHash: hash, header })
    hash = decodeHeader(header).prevHeaderHash
  }
  const removed = backwards.reverse()
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
  expected: readonly QueuedHeader[],
): Promise<number> {
  let common = 0
  for (let from = above + 1n; from <= last; from += pageSize) {
    for (const { headerHash } of await blocks.range(from, from + pageSize - 1n)) {
      const other = expected[common]
      if (other === undefined || !equalBytes(headerHash, other.headerHash)) return common
      common++
    }
  }
  return common
}

async function missingBlock(
  { store: { blocks }, adoption }: SequencerContext,
  header: QueuedHeader,
): Promise<MissingBlock> {
  const hash = toHex(header.headerHash)
  const block = await blocks.byHash(header.headerHash)
  if (block !== undefined && block.state !== 'removed')
    throw foreignQueue(`The state queue lacks the block before ${hash}`)
  if (block === undefined && adoption === undefined)
    throw foreignQueue(`The state queue holds block ${hash}, which this store never had`)
  return { ...header, own: block?.commitTransaction && block }
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

/** Restores a removed block that layer 1 has; false if its transactions are no longer the oldest ones. */
async function restore(context: SequencerContext, block: Block): Promise<boolean> {
  const { store, roots, log } = context
  const { headerHash, height, transactions, firstSequence, lastSequence, utxosRoot } = block
  await alignRoots(context, await store.blocks.newest())
  const oldest = await store.blocks.oldest(transactions)
  const isOldest = oldest[0]?.sequence === firstSequence && oldest.at(-1)?.sequence === lastSequence
  if (transactions > 0 && !isOldest) return false
  // Without transactions, the place of the block is that of its deposits, which another block may have moved.
  const read = transactions === 0 ? store.blocks.depositsOf : store.blocks.creditsOf
  const credits = (await read(headerHash)).map(creditedOf)
  if (!equalBytes(await depositsRoot(credits), decodeHeader(block.header).depositsRoot)) return false
  await forgetReplaced(context, credits)
  const applied = await roots.apply(
    oldest.map(({ cbor }) => cbor),
    credits,
  )
  context.step('roots-applied')
  if (!equalBytes(applied.utxosRoot, utxosRoot))
    throw new Error(`The transactions of block ${height} no longer lead to its utxos_root`)
  await store.blocks.revive(headerHash, context.lease, credits)
  context.step('block-restored')
  log.warn(...blockLine(block, 'found on layer 1; restored'))
  return true
}
