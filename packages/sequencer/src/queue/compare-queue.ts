import { decodeHeader, depositsRoot, encodedHeader, genesisHeaderHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { Layer1Error } from '@ratatosk/layer1'
import { decodeTransaction, outputReferenceKey, slotToTime } from '@ratatosk/ledger'
import {
  type BlockElement,
  maxPrunedBlocks,
  pruneBlocks,
  type RootElement,
  type StateQueue,
  soundBlocks,
  staleBlocks,
} from '@ratatosk/protocol'
import type { Block, BlockState, Layer1Transaction } from '@ratatosk/store'
import { adoptBlock } from '../adoption/adopt-block.js'
import { fetchHeader } from '../adoption/fetch.js'
import type { SequencerContext } from '../context.js'
import { foreignQueue, type SequencerError } from '../errors.js'
import { sendChain } from '../send-transactions.js'
import {
  alignRoots,
  applyGenesis,
  blockLine,
  creditedOf,
  forgetReplaced,
  markCommitted,
  markMerged,
  returnBlocks,
  rootBefore,
  setState,
  undoBlocks,
} from '../state/ledger-state.js'
import { readQueue, readReferenceScripts } from '../state/queue-elements.js'

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

/**
 * Whether a block of this store was removed from the queue, as opposed to lost in a roll-back or not there
 * yet. Its commit replaced the element before it; another transaction that has replaced it since took the
 * block away.
 */
export async function isRemoved(
  { layer1, signal }: Pick<SequencerContext, 'layer1' | 'signal'>,
  { id, cbor }: Layer1Transaction,
  { utxo: { reference } }: RootElement | BlockElement,
): Promise<boolean> {
  const { transactionId: replacement } = reference
  if (equalBytes(replacement, id)) return false
  const place = outputReferenceKey(reference)
  // The commit spends what is there: it was rolled back, or is not in what the provider shows.
  if (decodeTransaction(cbor).body.inputs.some((input) => outputReferenceKey(input) === place)) return false
  const commit = await layer1.status(id, { signal })
  if (commit.kind !== 'confirmed') return false
  const replaced = await layer1.status(replacement, { signal })
  return replaced.kind === 'confirmed' && replaced.slot >= commit.slot
}

/** Prunings in a row that change nothing before layer 1's answers are considered inconsistent. */
const maxFutile = 8

/** Prunes until no block is stale, again after a crash; returns hashes. Throws as `submitAndConfirm`. */
export async function pruneStale(context: SequencerContext): Promise<readonly Uint8Array[]> {
  const pruned: Uint8Array[] = []
  for (let futile = 0; futile < maxFutile; ) {
    const queue = await readQueue(context)
    const blocks = staleBlocks(queue)?.blocks.slice(0, maxPrunedBlocks)
    if (blocks === undefined) return pruned
    const gone = await prune(context, queue, blocks)
    pruned.push(...gone)
    futile = gone.length > 0 ? 0 : futile + 1
  }
  throw new Layer1Error('LAYER1_INVALID_ANSWER', 'Layer 1 shows blocks that it says are spent')
}

/** @returns none if another transaction has spent one of them */
async function prune(
  context: SequencerContext,
  queue: StateQueue,
  blocks: readonly BlockElement[],
): Promise<readonly Uint8Array[]> {
  const { contracts, operator, log } = context
  const draft = pruneBlocks(contracts, queue, await readReferenceScripts(context))
  const [pruned] = await sendChain(context, operator, ({ length }) =>
    length > 0 ? undefined : { spends: blocks.map(({ utxo }) => utxo), draft },
  )
  if (pruned === undefined) return []
  context.step('blocks-pruned')
  const hashes = blocks.map(({ headerHash }) => headerHash)
  log.warn(
    { transactionId: toHex(pruned.id), removed: hashes.map(toHex) },
    `Pruned ${hashes.length} blocks that do not follow the one before them`,
  )
  return hashes
}

/** Age from which a merged block is final: layer 1 is never rolled back that far. */
export const finalAfterMs = 36 * 3_600_000

/** Whether layer 1 may still include a lost block: its commit until the block's end, a final block always. */
async function canReturn(
  { store: { blocks }, slots }: SequencerContext,
  height: bigint,
  slot: bigint,
): Promise<boolean> {
  const block = await blocks.byHeight(height)
  if (block === undefined) return false
  if (block.mergedAt !== undefined && block.mergedAt.getTime() < Date.now() - finalAfterMs) return true
  return slotToTime(slots, slot) < block.endTime
}

/** The height of the oldest adopted block in a range; undefined if there is none. */
async function oldestAdopted(
  { store: { blocks } }: SequencerContext,
  from: bigint,
  to: bigint,
): Promise<bigint | undefined> {
  for (let start = from; start <= to; start += pageSize) {
    const page = await blocks.range(start, start + pageSize - 1n)
    const found = page.find(({ commitTransaction }) => commitTransaction === undefined)
    if (found !== undefined) return found.height
  }
  return undefined
}
