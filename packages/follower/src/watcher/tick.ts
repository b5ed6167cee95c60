import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { decodeHeader } from '@ratatosk/block'
import { type BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { type OpenQuestion, type StateQueue, soundBlocks, soundRoot } from '@ratatosk/protocol'
import type { HeldLease, VerdictRecord } from '@ratatosk/store'
import type { Job, Missing, WatcherContext } from './context.js'
import { openAllowance, readSummonses } from './questions.js'
import { readQueue } from './read-layer1.js'
import { advanceRemoval, pruneBehindRemoved } from './remove.js'
import { follow, removalsOf } from './send.js'
import type { WatcherState } from './state.js'
import { sweepBonds } from './sweep.js'
import type { WatcherOptions } from './types.js'
import { advanceUnavailable, summonChunk, verdictAbout } from './unavailable.js'

/** Lovelace that the datums of the longest proof lock, with collateral and fees. */
const leastLovelace = 350_000_000n
/** Milliseconds between two reads of the balance, while nothing is lacking. */
const balanceEveryMs = 60_000
/** Polls between two reads at one tip without work. */
const quietPolls = 5
/** The longest time between two reads of layer 1 by a follower that still lacks a body, in milliseconds. */
const wantedForMs = 120_000

/** A watcher at work. */
export interface Watching {
  readonly context: WatcherContext
  readonly state: WatcherState
  readonly turn: Turn
  readonly pollMs: number
  /** Milliseconds between two attempts that lack ada. */
  readonly delayMs: number
}

/** The reads of a tick, of one state of layer 1. */
interface Sight {
  readonly slot: bigint
  readonly queue: StateQueue
  /** The verdicts that are not settled: those whose block is in the queue, and the others. */
  readonly inQueue: readonly VerdictRecord[]
  readonly gone: readonly VerdictRecord[]
  /** Read when it is called first. */
  questionsAbout(disputed: Job | Missing): Promise<readonly OpenQuestion[]>
}

/**
 * Reads layer 1 once, and takes the next step about each disputed block.
 *
 * @returns whether it has tried everything: after a failure, some of it waits
 */
export async function tick(watching: Watching): Promise<boolean> {
  const { context, state, turn } = watching
  state.waits = await turn.obstacle()
  if (state.waits !== undefined) {
    state.line.refuse(state.waits)
    return true
  }
  // The tip first, so that everything else is at least as new.
  const { slot, hash } = await context.layer1.tip({ signal: context.signal })
  const mayRest = state.job === undefined && state.missing.size === 0 && state.line.isEmpty()
  const { quiet } = state
  if (mayRest && quiet.tip === hash && performance.now() < Math.min(quiet.until, state.balanceAt)) return true
  const sight = await look(watching, slot)
  if (await answerSummon(watching, sight)) return false
  const before = state.lack
  const isWhole = performance.now() >= state.retryAt || state.job?.isRecorded === false
  if (isWhole) await advance(watching, sight)
  // Recorded work does not wait.
  else await followRemovals(context, sight)
  await concludeGone(watching, sight)
  await checkBalance(watching, sight)
  if (state.lack !== undefined && state.lack !== before) state.retryAt = performance.now() + watching.delayMs
  const isDone =
    sight.inQueue.length + sight.gone.length === 0 && state.lack === undefined && !state.isPruning
  const until = performance.now() + quietPolls * watching.pollMs
  state.quiet = { tip: mayRest && isWhole && isDone ? hash : '', until }
  return isWhole
}

/** Reads queue and verdicts, and forgets the blocks that are gone. */
async function look({ context, state }: Watching, slot: bigint): Promise<Sight> {
  const { missing } = state
  const queue = await readQueue(context)
  state.confirmedUntil = soundRoot(queue).datum.state.endTime
  const shown = new BytesSet(queue.blocks.map(({ headerHash }) => headerHash))
  const open = await settleValid(context, await context.verdicts.open(), missing)
  const inQueue = open.filter(({ headerHash }) => shown.has(headerHash))
  state.unprovable = inQueue.find(
    (verdict) => verdict.state === 'unprovable' || missing.get(verdict.headerHash)?.reported !== undefined,
  )
  state.unavailable = inQueue.find((verdict) => verdict.state === 'unavailable')
  for (const [name, { hasCome }] of missing) if (hasCome || !shown.has(name)) missing.delete(name)
  let summonses: ReturnType<typeof readSummonses> | undefined
  return {
    slot,
    queue,
    inQueue,
    gone: open.filter(({ headerHash }) => !shown.has(headerHash)),
    async questionsAbout({ block }) {
      summonses ??= readSummonses(context)
      return (await summonses).open.get(block.headerHash) ?? []
    },
  }
}

/** @returns whether a client has asked: the verdicts have to be read again */
async function answerSummon({ context, state }: Watching, sight: Sight): Promise<boolean> {
  const waiting = state.hasSummoned ? undefined : state.line.next()
  state.hasSummoned = waiting !== undefined
  if (waiting === undefined) return false
  const { queue, inQueue, questionsAbout: questions, slot } = sight
  const { headerHash } = waiting.summon
  const known = verdictAbout(inQueue, headerHash)
  const asked = { queue, missing: state.missing.get(headerHash), known, questions }
  const result = summonChunk(context, waiting.summon, asked, slot)
  const unsent = () => `Not sent: ${state.lack?.reason ?? 'layer 1 has refused the question'}`
  waiting.resolve(result.then((sent) => sent ?? { kind: 'refused', reason: unsent() }))
  await result.catch(() => undefined)
  state.wake.abort()
  return true
}

/** Takes the next step about the invalid block, or about each block without a body. */
async function advance({ context, state }: Watching, sight: Sight): Promise<void> {
  const { queue, inQueue, slot } = sight
  const { job } = state
  const knownOf = ({ block }: Job | Missing) => verdictAbout(inQueue, block.headerHash)
  if (job !== undefined) {
    const own = () => sight.questionsAbout(job)
    return advanceRemoval(context, job, queue, knownOf(job), own, slot)
  }
  // It goes on with what was recorded for blocks whose bodies no follower has yet.
  await followRemovals(context, sight)
  state.isPruning = await pruneBehindRemoved(context, queue, slot, state.isPruning)
  const now = performance.now()
  const sound = new BytesSet(soundBlocks(queue).map(({ headerHash }) => headerHash))
  const wanted = [...state.missing.values()]
    .filter(({ wantedAt, hasCome }) => now - wantedAt < wantedForMs && !hasCome)
    .filter(({ block }) => sound.has(block.headerHash))
    // The funds go to the block that is mature first.
    .sort((a, b) => Number(a.block.header.endTime - b.block.header.endTime))
  const allowance = openAllowance(wanted.map(({ book }) => book))
  let isConvicted = false
  await forEach(wanted, async (each) => {
    // The removal of one takes those behind it along: their questions need no verdicts.
    if (isConvicted) return
    const open = await sight.questionsAbout(each)
    const isBehind = each !== wanted[0]
    const shownAt = { queue, known: knownOf(each), open, slot, allowance, isBehind }
    isConvicted = await advanceUnavailable(context, each, shownAt)
  })
}

const followRemovals = (context: WatcherContext, { inQueue, slot }: Sight) =>
  forEach(inQueue, async (verdict) => {
    await follow(context, removalsOf(verdict), slot)
  })

/** Settles the verdicts about blocks that have left the queue. */
async function concludeGone({ context, state }: Watching, { queue, gone }: Sight): Promise<void> {
  // Layer 1 has decided about the others: they can wait.
  const isDue = performance.now() >= state.balanceAt
  const due = gone.filter((verdict) => isDue || context.isUndecided(verdict))
  await forEach(due, (verdict) => conclude(context, verdict, queue))
}

/** Reads the balance now and then, so that a lack is known before ada is needed. */
async function checkBalance(
  { context, state, delayMs }: Watching,
  { queue, slot }: Pick<Sight, 'queue' | 'slot'>,
): Promise<void> {
  if (performance.now() < state.balanceAt) return
  const { wallet, signal } = context
  if ((await wallet.spendable({}, { signal })) < leastLovelace) {
    const reason = `The wallet has less than ${leastLovelace} lovelace: send ada to ${wallet.address}`
    context.lacks({ code: 'WATCHER_LACKS_FUNDS', reason })
  } else if (state.job === undefined && state.missing.size === 0) context.lacks(undefined)
  const isSweeping = await sweepBonds(context, queue, slot)
  state.balanceAt = performance.now() + (state.lack === undefined && !isSweeping ? balanceEveryMs : delayMs)
}

/** Does something for each. A failure for one of them delays no other. */
async function forEach<Item>(items: Iterable<Item>, run: (item: Item) => Promise<void>): Promise<void> {
  let failure: unknown
  for (const item of items)
    await run(item).catch((error: unknown) => {
      failure ??= error
    })
  if (failure !== undefined) throw failure
}

/** The turn of one of the processes that share a store and a wallet. */
interface Turn {
  /** Takes the turn, or keeps it. @returns why this process may not use the wallet; undefined if it may */
  obstacle(): Promise<string | undefined>
  release(): Promise<void>
}

/** Without a lease, this process is the only one. */
export function openTurn({ lease, log }: Pick<WatcherOptions, 'lease' | 'log'>): Turn {
  const holder = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`
  let held: HeldLease | undefined
  let reason: string | undefined
  return {
    async obstacle() {
      if (lease === undefined || held?.lost.aborted === false) return undefined
      const { leases, ttlMs } = lease
      held = await leases.hold('watcher', holder, ttlMs)
      const other = held === undefined ? await leases.current('watcher') : undefined
      const was = reason
      reason =
        held === undefined ? `Another process of this store watches: ${other?.holder ?? ''}` : undefined
      if (reason !== undefined && was === undefined) log.info({ holder: other?.holder }, reason)
      if (reason === undefined && was !== undefined) log.info({ holder }, 'This process watches now')
      return reason
    },
    release: async () => held?.release(),
  }
}

/** Settles a verdict about a block that the queue does not show, unless by an old view or a roll-back. */
async function conclude(context: WatcherContext, verdict: VerdictRecord, queue: StateQueue): Promise<void> {
  const { verdicts, layer1, wallet, signal, log, step } = context
  const { headerHash, height } = verdict
  const own = removalsOf(verdict)
  const states = await Promise.all(own.map(({ id }) => layer1.status(id, { signal })))
  const isIncluded = (place: number): boolean => states[place]?.kind === 'confirmed'
  const removal = own.find(({ stage }, place) => stage === 'removal' && isIncluded(place))
  if (removal === undefined && !(await isTaken(context, verdict, queue))) return
  for (const [place, { id }] of own.entries()) {
    if (isIncluded(place)) continue
    await verdicts.drop(id)
    wallet.release(id)
  }
  await verdicts.removed(headerHash)
  step('removed')
  const fields = { headerHash: toHex(headerHash), height: Number(height) }
  if (removal) log.info({ ...fields, transaction: toHex(removal.id) }, 'Removed an invalid block')
  else log.info(fields, 'An invalid block is gone: this watcher did not remove it')
}

/** Whether another transaction than the block's commit has spent the element before: it took the block. */
async function isTaken(
  context: WatcherContext,
  { header, headerHash, height, commitId, state }: VerdictRecord,
  queue: StateQueue,
): Promise<boolean> {
  const { layer1, signal, verdicts, archive, log } = context
  const { prevHeaderHash } = decodeHeader(header)
  const root = soundRoot(queue)
  const { state: confirmed } = root.datum
  if (equalBytes(confirmed.headerHash, headerHash)) {
    if (state === 'unprovable') return false
    const reason = 'It was merged before it was removed'
    await verdicts.unprovable(headerHash, reason)
    const fields = { code: 'WATCHER_MERGED', headerHash: toHex(headerHash) }
    log.error(fields, `An invalid block is not removed: ${reason}`)
    return false
  }
  if (commitId === undefined) return false
  const commit = await layer1.status(commitId, { signal })
  if (commit.kind !== 'confirmed') return false
  const before = equalBytes(confirmed.headerHash, prevHeaderHash)
    ? root
    : queue.blocks.find((block) => equalBytes(block.headerHash, prevHeaderHash))
  if (before === undefined) {
    // Later blocks are merged, perhaps this one too, or the queue is too old. A follower archives valid
    // blocks only: one at this height, merged, is there in place of this one.
    const archived = await archive.byHeight(height)
    return archived?.merged === true && !equalBytes(archived.headerHash, headerHash)
  }
  const { transactionId: replacement } = before.utxo.reference
  if (equalBytes(replacement, commitId)) return false
  const replaced = await layer1.status(replacement, { signal })
  return replaced.kind === 'confirmed' && replaced.slot >= commit.slot
}

/** Settles verdicts about missing bodies that were archived since; returns the other blocks. */
async function settleValid(
  { verdicts, archive, log }: WatcherContext,
  open: readonly VerdictRecord[],
  missing: BytesMap<Missing>,
): Promise<readonly VerdictRecord[]> {
  const left: VerdictRecord[] = []
  for (const verdict of open) {
    const { headerHash, height, state } = verdict
    const archived = state === 'unavailable' ? await archive.byHeight(height) : undefined
    if (archived === undefined || !equalBytes(archived.headerHash, headerHash)) {
      left.push(verdict)
      continue
    }
    await verdicts.valid(headerHash, 'Its body came late, and breaks no rule')
    missing.delete(headerHash)
    log.info(
      { headerHash: toHex(headerHash), height: Number(height) },
      'A block whose body was missing is valid',
    )
  }
  return left
}
