import { isLayer1Error } from '@ratatosk/layer1'
import { decodeTransaction, slotToTime } from '@ratatosk/ledger'
import { isStoreError } from '@ratatosk/store'
import { countWaiting, prepareBlock } from './blocks/build-block.js'
import { hasAdministrator, type SequencerContext } from './context.js'
import type { Cycle } from './cycle.js'
import { disagreements, failed, notInitialised, refusalOf } from './errors.js'
import { deploymentToStart, findInitialised, initialise } from './operations/init.js'
import { finalAfterMs } from './queue/compare-queue.js'
import type { QueueView } from './queue/reconcile.js'
import { lockOperation } from './run-operation.js'
import { resubmit } from './state/ledger-state.js'
import { fundAnswerWallet } from './summons/answer-wallet.js'

const maxBackoffMs = 15_000
const cleanUpEveryMs = 600_000
/** How long removals stay in a transaction's status, and answers are kept. */
const removalsKeptMs = 30 * 24 * 3_600_000
/** Reads of the same tip of layer 1, while a transaction is unconfirmed, after which everything is read. */
const pollsPerReconciliation = 4
/** Poll interval of the mempool while it fills up, in milliseconds. */
const fillingMs = 100
/** Transactions whose fees are added up at most: bounds the work of each check. */
const feesReadFrom = 1000

/** Unexpected failures in a row after which the sequencer says that it commits nothing. */
const manyFailures = 3

/** Errors after which there is a queue that the store does not agree with. */
const unreadableQueue = [...disagreements, 'LAYER1_INVALID_ANSWER']

interface Scheduler {
  /** Does what is due, never rejects; returns the milliseconds to the next call, undefined without lease. */
  tick(): Promise<number | undefined>
  cancelInit(): void
}

/** The state of scheduled work. */
interface Schedule {
  readonly cycle: Cycle
  readonly context: SequencerContext
  mayInit: boolean
  /** When each was done last, in milliseconds of `performance.now()`. */
  readonly doneAt: Record<'reconcile' | 'poll' | 'merge' | 'cleanUp', number>
  /** How many transactions wait, as it was counted in this tick. */
  counted: Promise<number> | undefined
  /** The arrivals when the mempool was last found empty. */
  emptyAt: number | undefined
  /** In a row. */
  failures: number
  /** The unexpected ones since the last other one, or success. */
  unexpected: number
  /** The message of the last one. */
  reported: string
  /** Why the transactions of removed blocks wait. */
  unqueued: string
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const noFailures = { failures: 0, unexpected: 0, reported: '' }

/** Reconciles, merges and commits as the settings say; with `autoInit`, initialises a queue at the start. */
export function createScheduler(cycle: Cycle): Scheduler {
  const { context } = cycle
  const schedule: Schedule = {
    cycle,
    context,
    mayInit: context.options.autoInit && !(hasAdministrator(context) && 'absent' in context.administrator),
    doneAt: { reconcile: -Infinity, poll: -Infinity, merge: -Infinity, cleanUp: -Infinity },
    counted: undefined,
    emptyAt: undefined,
    ...noFailures,
    unqueued: '',
  }
  return {
    async tick() {
      try {
        const next = await runOnce(schedule).catch((error) => initialiseOrThrow(schedule, error))
        Object.assign(schedule, noFailures)
        cycle.succeed()
        return next
      } catch (error) {
        return handleFailure(schedule, error)
      }
    },
    cancelInit() {
      schedule.mayInit = false
    },
  }
}

async function runOnce(schedule: Schedule): Promise<number> {
  const { cycle, context, doneAt } = schedule
  const now = performance.now()
  schedule.counted = undefined
  if (await isQuiet(schedule, now)) return prepare(schedule)
  // The next steps may return transactions to the mempool.
  schedule.emptyAt = undefined
  cycle.begin('reconcile')
  await cycle.reconcile().catch((error: unknown) => fillAndThrow(context, error))
  doneAt.reconcile = now
  // Without an administrator, the operator registers after the queue has begun.
  if (schedule.mayInit && (await findInitialised(context)) === undefined) throw notInitialised()
  schedule.mayInit = false
  await resubmitRemoved(schedule)
  // Before what may fail: questions do not wait.
  if (context.cache.mayLackAnswerFunds) await fundAnswerWallet(context, (await viewOf(cycle)).tip.slot)
  if (await merge(schedule, now)) await cycle.reconcile()
  const next = await commit(schedule)
  await cleanUp(schedule, now)
  return next
}

const viewOf = async (cycle: Cycle): Promise<QueueView> => cycle.view ?? (await cycle.reconcile())

/** Whether there is nothing to commit, no new layer-1 block, and a recent reconciliation. */
async function isQuiet(schedule: Schedule, now: number): Promise<boolean> {
  const { doneAt, context } = schedule
  const { cache, layer1, signal } = context
  const { view, fault } = schedule.cycle
  if (fault !== undefined || view === undefined || cache.mayHaveResubmissions) return false
  if (cache.mayLackAnswerFunds) return false
  const { pollMs, mergeEveryMs, autoCommit } = context.options
  // A provider may have the outputs of a block later than its tip.
  const longest = view.pending.length > 0 ? pollsPerReconciliation * pollMs : mergeEveryMs
  if (now - doneAt.reconcile >= Math.min(longest, mergeEveryMs)) return false
  if (now - doneAt.poll >= pollMs) {
    doneAt.poll = now
    // Layer 1 may include more, or have been rolled back.
    if ((await layer1.tip({ signal })).hash !== view.tip.hash) return false
  }
  return !autoCommit || (await count(schedule)) === 0 || !(await isCommitDue(schedule))
}

function count(schedule: Schedule): Promise<number> {
  schedule.counted ??= readWaiting(schedule)
  return schedule.counted
}

async function readWaiting(schedule: Schedule): Promise<number> {
  const { context } = schedule
  const arrived = context.arrivals?.()
  if (arrived !== undefined && arrived === schedule.emptyAt) return 0
  const found = await countWaiting(context)
  schedule.emptyAt = found === 0 ? arrived : undefined
  return found
}

function isCommitDue(schedule: Schedule): Promise<boolean> {
  const { cycle, context } = schedule
  return cycle.policy.isDue(cycle.now(), {
    count: async (limit) => Math.min(limit, await count(schedule)),
    async fees(limit) {
      let sum = 0n
      for (const { cbor } of await context.store.blocks.oldest(feesReadFrom, feesReadFrom * 1024)) {
        sum += decodeTransaction(cbor).body.fee
        if (sum >= limit) break
      }
      return sum
    },
  })
}

async function merge(schedule: Schedule, now: number): Promise<boolean> {
  const { cycle, context, doneAt } = schedule
  const { autoMerge, mergeEveryMs, maxUnconfirmed } = context.options
  if (!autoMerge || now - doneAt.merge < mergeEveryMs || cycle.isOperationWaiting) return false
  cycle.begin('merge')
  const view = await viewOf(cycle)
  const merging = await cycle.merge(view, maxUnconfirmed)
  // If more blocks are mature than may be unconfirmed, the next follow as soon as these are included.
  const unconfirmed = view.pending.filter(({ kind }) => kind === 'merge').length + merging.length
  if (unconfirmed < maxUnconfirmed) doneAt.merge = now
  return merging.length > 0
}

/** @returns milliseconds until the next call */
async function commit(schedule: Schedule): Promise<number> {
  const { cycle, context } = schedule
  const { autoCommit, pollMs } = context.options
  if (!autoCommit || cycle.isOperationWaiting || !(await isCommitDue(schedule))) return prepare(schedule)
  const view = await viewOf(cycle)
  cycle.begin('commit')
  const commitment = await cycle.commit(view)
  schedule.counted = undefined
  if (commitment.kind === 'wait') return pollMs
  return commitment.kind === 'built' && commitment.isFull ? 0 : prepare(schedule)
}

/** @returns milliseconds until the next call: fewer while a block fills up, or if one is due before */
async function prepare(schedule: Schedule): Promise<number> {
  const { cycle, context } = schedule
  const { pollMs } = context.options
  if (cycle.isOperationWaiting) return pollMs
  const next = (await prepareBlock(context, await count(schedule))) ? Math.min(pollMs, fillingMs) : pollMs
  const due = cycle.policy.dueIn(cycle.now())
  return due > 0 ? Math.min(next, due) : next
}

/** An unavailable queue delays nothing else. */
async function resubmitRemoved(schedule: Schedule): Promise<void> {
  const { context } = schedule
  try {
    await resubmit(context)
    schedule.unqueued = ''
  } catch (error) {
    if (refusalOf(error)?.code === 'SEQUENCER_NOT_ACTIVE') throw error
    const reason = messageOf(error)
    if (reason !== schedule.unqueued)
      context.log.warn({ err: error }, `Transactions of removed blocks wait: ${reason}`)
    schedule.unqueued = reason
  }
}

async function cleanUp(schedule: Schedule, now: number): Promise<void> {
  const { layer1, contracts, slots, signal, store, lease } = schedule.context
  if (now - schedule.doneAt.cleanUp < cleanUpEveryMs) return
  schedule.doneAt.cleanUp = now
  await store.blocks.forgetSpent(new Date(Date.now() - finalAfterMs), lease)
  await store.resubmissions.forget(new Date(Date.now() - removalsKeptMs))
  await store.answers.forget(new Date(Date.now() - removalsKeptMs))
  // Nothing can be asked about a block whose maturity window has ended.
  const kept = contracts.parameters.maturityWindow + BigInt(finalAfterMs)
  const { slot } = await layer1.tip({ signal })
  await store.bodies.forget(slotToTime(slots, slot) - kept)
}

/** Store and layer 1 do not agree: questions about blocks in the queue are to be answered nevertheless. */
async function fillAndThrow(context: SequencerContext, error: unknown): Promise<never> {
  const { cache, layer1, signal } = context
  const code = refusalOf(error)?.code ?? (isLayer1Error(error) ? error.code : '')
  if (unreadableQueue.includes(code) && cache.mayLackAnswerFunds)
    await fundAnswerWallet(context, (await layer1.tip({ signal })).slot)
  throw error
}

/** Begins the queue after an error that says that there is none. @returns milliseconds until the next call */
async function initialiseOrThrow(schedule: Schedule, error: unknown): Promise<number> {
  const { cycle, context } = schedule
  const { store, options } = context
  if (refusalOf(error)?.code !== 'SEQUENCER_NOT_INITIALISED') throw error
  if (!schedule.mayInit) {
    // A queue that can never begin is another fault: the settings are those of another deployment.
    await deploymentToStart(context)
    throw error
  }
  schedule.mayInit = (await store.blocks.newest()) === undefined
  if (!schedule.mayInit) return options.pollMs
  cycle.begin('init')
  const lock = await lockOperation(store, options.holder, 'init', options.leaseMs)
  // Another operation runs, or the lock of a killed process has not expired yet.
  if (typeof lock === 'string') return options.pollMs
  try {
    await initialise(context)
    schedule.mayInit = false
  } finally {
    await lock.release()
  }
  return options.pollMs
}

function handleFailure(schedule: Schedule, error: unknown): number | undefined {
  const { cycle, context } = schedule
  const { log, options } = context
  schedule.failures++
  const refusal = refusalOf(error)
  if (refusal?.code === 'SEQUENCER_NOT_ACTIVE') return undefined
  const expected = refusal ? ([{ code: refusal.code }, refusal.message] as const) : passingLine(error)
  schedule.unexpected = expected ? 0 : schedule.unexpected + 1
  if (refusal !== undefined) cycle.fail(refusal)
  else if (schedule.unexpected >= manyFailures) cycle.fail(failed(schedule.unexpected))
  const message = messageOf(error)
  // One line per cause, not per attempt.
  if (message !== schedule.reported) {
    if (expected) log.warn(...expected)
    else log.error({ err: error }, 'The sequencer failed unexpectedly; it retries')
  }
  schedule.reported = message
  return Math.min(options.pollMs * 2 ** Math.min(schedule.failures, 10), maxBackoffMs)
}

/** The log line of a failure that passes without an operator; undefined for any other. */
function passingLine(error: unknown): readonly [fields: object, line: string] | undefined {
  if (isLayer1Error(error))
    return [{ code: error.code, reason: error.reason }, `Layer 1 failed: ${error.message}`]
  if (isStoreError(error) && error.retryable)
    return [{ code: error.code }, `The store failed: ${error.message}`]
  return undefined
}
