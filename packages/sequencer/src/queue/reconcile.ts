import { setTimeout as sleep } from 'node:timers/promises'
import { genesisHeaderHash } from '@ratatosk/block'
import { BytesSet, equalBytes } from '@ratatosk/cbor'
import { Layer1Error, type Tip } from '@ratatosk/layer1'
import { type BlockElement, type RootElement, readStateQueue } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { brokenQueue, foreignQueue, notInitialised, type SequencerError } from '../errors.js'
import { isMature, markCommitted, markMature, markMerged } from '../state/ledger-state.js'
import {
  countArrived,
  type PendingTransaction,
  pendingTransactions,
  readElement,
} from '../state/queue-elements.js'
import { compareQueue } from './compare-queue.js'
import { sendPending } from './send-pending.js'

/** Store and layer 1 at a moment at which they agree. */
export interface QueueView {
  /** Layer 1's tip, read before everything else. */
  readonly tip: Tip
  readonly root: RootElement
  readonly local: LocalBlocks
  /** The element of `local.newestCommitted`. After a removal, no transaction of this store makes it. */
  readonly tail: BlockElement | undefined
  /** Unconfirmed transactions, in the order in which layer 1 can include them. */
  readonly pending: readonly PendingTransaction[]
  /** Why the store ends before a block of another operator; undefined if it has the whole queue. */
  readonly obstacle: SequencerError | undefined
}

/** The store's blocks at both ends of the queue, which may hold thousands. */
interface LocalBlocks {
  readonly newest: Block | undefined
  /** The newest merged block. */
  readonly confirmed: Block | undefined
  /** The newest block that was seen in the queue; undefined when the queue is empty. */
  readonly newestCommitted: Block | undefined
  /** The blocks after it, whose commits are unconfirmed, the oldest first. */
  readonly unconfirmed: readonly Block[]
  /** The oldest unmerged blocks: all that have a merge transaction, and some more. */
  readonly oldestUnmerged: readonly Block[]
}

/** Rounds after which layer 1's answers are considered inconsistent. */
const maxRounds = 8
const pageSize = 16n

/**
 * Compares the store with layer 1 and resolves every difference. Reads the whole queue when root or newest
 * blocks differ, and now and then: a removal in its middle does not show at its ends.
 * @throws {SequencerError} when the queue is missing, broken, or belongs to another store
 */
export async function reconcile(context: SequencerContext): Promise<QueueView> {
  if (context.cache.isComparisonDue(context.options.pollMs)) await compareQueue(context)
  for (let round = 0; round < maxRounds; round++) {
    const local = await readLocalBlocks(context)
    // The tip first, so that everything read afterwards is at least as recent.
    const tip = await context.layer1.tip({ signal: context.signal })
    const root = await readRoot(context)
    const found = await compareEnds(context, local, root)
    if (found === 'differs') {
      context.cache.layer1Changed()
      await compareQueue(context)
    }
    if (found === 'differs' || found === 'changed') continue
    if (await updateMature(context, local, tip.slot)) continue
    const pending = pendingTransactions(local.unconfirmed, local.oldestUnmerged, context.cache.deadMerges)
    const alive = await sendPending(context, pending, tip.slot, root)
    if (alive === 'changed') continue
    keepPending(context, local, alive)
    return { tip, root, local, tail: found.tail, pending: alive, obstacle: context.cache.obstacle?.reason }
  }
  throw new Layer1Error('LAYER1_INVALID_ANSWER', 'Layer 1 shows another state at each read')
}

async function readLocalBlocks({
  store: { blocks },
  options: { maxUnconfirmed },
}: SequencerContext): Promise<LocalBlocks> {
  const newest = await blocks.newest()
  const confirmed = await blocks.confirmed()
  const first = (confirmed?.height ?? 0n) + 1n
  const last = newest?.height ?? 0n

  const top: Block[] = []
  for (let to = last; to >= first; to -= pageSize) {
    const from = to - pageSize + 1n
    top.unshift(...(await blocks.range(from < first ? first : from, to)))
    if (top[0] === undefined || !isUnconfirmed(top[0])) break
  }
  const firstUnconfirmed = top.findLastIndex((block) => !isUnconfirmed(block)) + 1

  const oldestUnmerged: Block[] = []
  for (let from = first; from <= last; from += pageSize) {
    oldestUnmerged.push(...(await blocks.range(from, from + pageSize - 1n)))
    const unmerging = oldestUnmerged.findIndex(({ mergeTransaction }) => mergeTransaction === undefined)
    if (unmerging >= 0 && oldestUnmerged.length > unmerging + maxUnconfirmed) break
  }
  return {
    newest,
    confirmed,
    newestCommitted: top[firstUnconfirmed - 1],
    unconfirmed: top.slice(firstUnconfirmed),
    oldestUnmerged,
  }
}

const isUnconfirmed = ({ state }: Block): boolean => state === 'built' || state === 'submitted'

/** @throws {SequencerError} when there is no root, or more than one */
async function readRoot({ layer1, contracts, signal }: SequencerContext): Promise<RootElement> {
  const { unit } = contracts.scripts.queue
  const { roots } = readStateQueue(contracts, await layer1.utxosByUnit(unit, { signal }))
  const [root, second] = roots
  if (root === undefined) throw notInitialised()
  if (second !== undefined) throw brokenQueue(`Layer 1 has ${roots.length} root units`)
  return root
}

async function compareEnds(
  context: SequencerContext,
  local: LocalBlocks,
  root: RootElement,
): Promise<{ readonly tail: BlockElement | undefined } | 'changed' | 'differs'> {
  const { confirmed, unconfirmed, newestCommitted, oldestUnmerged } = local
  const { headerHash, utxoRoot } = root.datum.state
  if (!equalBytes(headerHash, confirmed?.headerHash ?? genesisHeaderHash())) {
    const merged = oldestUnmerged.findIndex((block) => equalBytes(block.headerHash, headerHash))
    if (merged < 0) return 'differs'
    await markMerged(context, oldestUnmerged.slice(0, merged + 1))
    return 'changed'
  }
  const { genesisRoot } = context.cache
  if (confirmed === undefined && genesisRoot && !equalBytes(genesisRoot, utxoRoot))
    throw foreignQueue('The state queue began with other genesis outputs than this ledger')
  const arrived = await countArrived(context, unconfirmed)
  const last = unconfirmed[arrived - 1] ?? newestCommitted
  const tail = last && (await readElement(context, last))
  // Either our block is not in the queue, or the queue continues where ours ends.
  if (last && tail === undefined) return 'differs'
  const { link } = (tail ?? root).datum
  const { cache } = context
  if (link === undefined) cache.obstacle = undefined
  else if (!cache.isObstacle(link)) return 'differs'
  if (arrived === 0) return { tail }
  await markCommitted(context, unconfirmed.slice(0, arrived))
  return 'changed'
}

/** Marks blocks whose maturity window has ended by layer 1's time. Returns whether there was any. */
async function updateMature(
  context: SequencerContext,
  { confirmed, newestCommitted }: LocalBlocks,
  slot: bigint,
): Promise<boolean> {
  const { store, cache } = context
  const first = (confirmed?.height ?? 0n) + 1n
  const last = newestCommitted?.height ?? 0n
  let from = cache.matureUpTo < first ? first : cache.matureUpTo + 1n
  for (; from <= last; from += pageSize) {
    const to = from + pageSize - 1n < last ? from + pageSize - 1n : last
    const page = await store.blocks.range(from, to)
    const mature = page.filter((block) => isMature(context, block, slot))
    const changed = mature.filter(({ state }) => state === 'committed')
    if (changed.length > 0) await markMature(context, changed)
    cache.matureUpTo = mature.at(-1)?.height ?? cache.matureUpTo
    if (changed.length > 0) return true
    if (mature.length < page.length) return false
  }
  return false
}

/** Forgets what no pending transaction needs. */
function keepPending(
  { cache }: SequencerContext,
  { oldestUnmerged }: LocalBlocks,
  pending: readonly PendingTransaction[],
): void {
  const merges = oldestUnmerged.flatMap(({ mergeTransaction }) => mergeTransaction ?? [])
  cache.keepPending(new BytesSet(pending.map(({ id }) => id)), new BytesSet(merges.map(({ id }) => id)))
}

/** Records which unconfirmed blocks enter the queue, until it is aborted. */
export async function recordArrivals(
  context: SequencerContext,
  { tip, local }: QueueView,
  over: AbortSignal,
): Promise<void> {
  const { layer1, contracts, options } = context
  const signal = AbortSignal.any([context.signal, over])
  let { hash } = tip
  let { unconfirmed } = local
  while (unconfirmed.length > 0) {
    await sleep(options.pollMs, undefined, { signal })
    const present = await layer1.tip({ signal })
    if (present.hash === hash) continue
    hash = present.hash
    const arrived = await countArrived({ layer1, contracts, signal }, unconfirmed)
    if (arrived > 0) await markCommitted(context, unconfirmed.slice(0, arrived))
    unconfirmed = unconfirmed.slice(arrived)
  }
}
