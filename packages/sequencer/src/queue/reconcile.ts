import { setTimeout as sleep } from 'node:timers/promises'
import { genesisHeaderHash } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { failureCause, isLayer1Error, Layer1Error, missingInputs, type Tip } from '@ratatosk/layer1'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import { type BlockElement, type RootElement, readStateQueue } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { brokenQueue, foreignQueue, notInitialised, type SequencerError } from '../errors.js'
import {
  creditsRightly,
  isMature,
  markCommitted,
  markMature,
  markMerged,
  returnBlocks,
} from '../state/ledger-state.js'
import {
  countArrived,
  type PendingTransaction,
  pendingTransactions,
  readElement,
  readQueue,
} from '../state/queue-elements.js'
import { compareQueue } from './compare-queue.js'

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

/** Sends a transaction that was just stored; false when it failed. Reconciliation sends it again. */
export async function sendBuilt(
  context: SequencerContext,
  kind: PendingTransaction['kind'],
  built: BuiltTransaction,
  slot: bigint,
): Promise<boolean> {
  const { operator, cache, signal, log } = context
  try {
    await operator.submit(built, { signal })
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    log.warn(
      { code: error.code, reason: error.reason },
      `A ${kind} transaction was not sent: ${failureCause(error)}; it is sent again`,
    )
    return false
  }
  cache.sentAt.set(built.id, slot)
  context.step(`${kind}-sent`)
  return true
}

/**
 * Sends pending transactions again, in order, and gives up those that layer 1 can no longer include. `slot`
 * is that of a tip read before the root, which was read before they were found missing on layer 1.
 */
async function sendPending(
  context: SequencerContext,
  pending: readonly PendingTransaction[],
  slot: bigint,
  root: RootElement,
): Promise<readonly PendingTransaction[] | 'changed'> {
  const { cache, operator, log } = context
  const alive: PendingTransaction[] = []
  const dead = new BytesMap<PendingTransaction>()
  for (const transaction of pending) {
    if (await isDead(context, transaction, slot, alive, dead)) dead.set(transaction.id, transaction)
    else alive.push(transaction)
  }
  if (dead.size === 0) return alive
  // The findings come from several reads; confirm them by one read of the whole queue.
  const queue = await readQueue(context)
  if (!equalBytes(queue.root.datum.state.headerHash, root.datum.state.headerHash)) return 'changed'
  for (const { id, kind, block } of dead.values()) {
    if (kind === 'commit') continue
    operator.release(id)
    cache.deadMerges.add(id)
    log.warn(
      { transaction: toHex(id) },
      `Layer 1 did not include the merge of block ${block.height}; it is built again`,
    )
  }
  const lowest = [...dead.values()].find(({ kind }) => kind === 'commit')?.block
  if (
    lowest !== undefined &&
    !queue.blocks.some(({ headerHash }) => equalBytes(headerHash, lowest.headerHash))
  ) {
    if (lowest.commitTransaction) context.commits.missed(lowest.commitTransaction.id)
    await returnBlocks(context, lowest.height, 'layer 1 did not include its commit')
  }
  return 'changed'
}

async function isDead(
  context: SequencerContext,
  pending: PendingTransaction,
  slot: bigint,
  alive: readonly PendingTransaction[],
  dead: BytesMap<PendingTransaction>,
): Promise<boolean> {
  const { inputs, validityInterval } = pending.transaction.body
  if (inputs.some(({ transactionId }) => dead.has(transactionId))) return true
  if (validityInterval.invalidHereafter !== undefined && slot >= validityInterval.invalidHereafter)
    return true
  const sent = await sendIfDue(context, pending, slot)
  if (sent === 'wrong events') return true
  if (sent !== 'rejected') return false
  // If layer 1 has all inputs, the rejection or the transaction's validity passes.
  const isAlive = (id: Uint8Array) => alive.some((each) => equalBytes(each.id, id))
  const { layer1, signal } = context
  return (await missingInputs(layer1, isAlive, pending.transaction, { signal })).length > 0
}

async function sendIfDue(
  context: SequencerContext,
  pending: PendingTransaction,
  slot: bigint,
): Promise<'sent' | 'rejected' | 'wrong events'> {
  const { layer1, operator, cache, signal, store, options, slots } = context
  const sentAt = cache.sentAt.get(pending.id)
  const resendAfter = BigInt(Math.ceil(options.blockValidityMs / 3 / slots.slotLength))
  // A tip older than `sentAt` means that layer 1 was rolled back and may have lost the transaction.
  if (sentAt !== undefined && slot >= sentAt && slot < sentAt + resendAfter) return 'sent'
  // After a roll-back of layer 1 the block may credit what is no longer there.
  if (pending.kind === 'commit' && !(await creditsRightly(context, pending.block))) return 'wrong events'
  if (!operator.isInFlight(pending.id)) await operator.adopt(pending.bytes, { signal })
  try {
    await operator.submit(pending, { signal })
  } catch (error) {
    if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
    if ((await layer1.status(pending.id, { signal })).kind === 'unknown') {
      // It may be in a mempool that the provider does not show: do not repeat this at each reconciliation.
      if (error.mayHaveEffect) cache.sentAt.set(pending.id, slot)
      return 'rejected'
    }
  }
  cache.sentAt.set(pending.id, slot)
  if (pending.kind === 'merge') context.step('merge-sent')
  else context.step('commit-sent')
  if (pending.kind === 'commit' && pending.block.state === 'built') {
    await store.blocks.setState([pending.block.headerHash], 'submitted', context.lease)
    context.step('block-submitted')
  }
  return 'sent'
}
