import { isLayer1Error } from '@ratatosk/layer1'
import { decodeTransaction, slotToTime } from '@ratatosk/ledger'
import { isStoreError } from '@ratatosk/store'
import { finalAfterMs } from './adoption/lost-blocks.js'
import { countWaiting, prepareBlock } from './blocks/fill-block.js'
import type { WaitingTransactions } from './commit-policy.js'
import { hasAdministrator } from './context.js'
import type { Cycle } from './cycle.js'
import { disagreements, failed, notInitialised, refusalOf } from './errors.js'
import { lockOperation } from './operation-lock.js'
import { deploymentToStart } from './operations/deployment.js'
import { findInitialised, initialise } from './operations/init.js'
import type { QueueView } from './queue/reconcile.js'
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

/** Reconciles, merges and commits as the settings say; with `autoInit`, initialises a queue at the start. */
export function createScheduler(cycle: Cycle): Scheduler {
  const { context } = cycle
  const { log, store, options } = context
  let mayInit = options.autoInit && !(hasAdministrator(context) && 'absent' in context.administrator)
  let reconciledAt = -Infinity
  let polledAt = -Infinity
  let mergedAt = -Infinity
  let cleanedUpAt = -Infinity
  let failures = 0
  /** The unexpected ones since the last other one, or success. */
  let unexpected = 0
  let reported = ''
  let unqueued = ''

  /** The arrivals when the mempool was last found empty. */
  let emptyAt: number | undefined
  async function readWaiting(): Promise<number> {
    const arrived = context.arrivals?.()
    if (arrived !== undefined && arrived === emptyAt) return 0
    const found = await countWaiting(context)
    emptyAt = found === 0 ? arrived : undefined
    return found
  }

  /** How many transactions wait, as it was counted in this tick. */
  let counted: Promise<number> | undefined
  const count = (): Promise<number> => {
    counted ??= readWaiting()
    return counted
  }

  const waiting: WaitingTransactions = {
    count: async (limit) => Math.min(limit, await count()),
    async fees(limit) {
      let sum = 0n
      for (const { cbor } of await store.blocks.oldest(feesReadFrom, feesReadFrom * 1024)) {
        sum += decodeTransaction(cbor).body.fee
        if (sum >= limit) break
      }
      return sum
    },
  }

  /** Whether there is nothing to commit, no new layer-1 block, and a recent reconciliation. */
  async function isQuiet(now: number): Promise<boolean> {
    const { view, fault } = cycle
    if (fault !== undefined || view === undefined || context.cache.mayHaveResubmissions) return false
    if (context.cache.mayLackAnswerFunds) return false
    const { pollMs, mergeEveryMs } = options
    // A provider may have the outputs of a block later than its tip.
    const longest = view.pending.length > 0 ? pollsPerReconciliation * pollMs : mergeEveryMs
    if (now - reconciledAt >= Math.min(longest, mergeEveryMs) || (await hasMoved(view, now))) return false
    if (!options.autoCommit || (await count()) === 0) return true
    return !(await cycle.policy.isDue(cycle.now(), waiting))
  }

  /** Whether layer 1's tip differs from the view's: it may include more, or have been rolled back. */
  async function hasMoved({ tip }: QueueView, now: number): Promise<boolean> {
    if (now - polledAt < options.pollMs) return false
    polledAt = now
    return (await context.layer1.tip({ signal: context.signal })).hash !== tip.hash
  }

  async function merge(now: number): Promise<boolean> {
    if (!options.autoMerge || now - mergedAt < options.mergeEveryMs || cycle.isOperationWaiting) return false
    cycle.begin('merge')
    const view = cycle.view ?? (await cycle.reconcile())
    const merging = await cycle.merge(view, options.maxUnconfirmed)
    // If more blocks are mature than may be unconfirmed, the next follow as soon as these are included.
    const unconfirmed = view.pending.filter(({ kind }) => kind === 'merge').length + merging.length
    if (unconfirmed < options.maxUnconfirmed) mergedAt = now
    return merging.length > 0
  }

  /** @returns milliseconds until the next call */
  async function commit(): Promise<number> {
    const mayCommit = options.autoCommit && !cycle.isOperationWaiting
    if (!mayCommit || !(await cycle.policy.isDue(cycle.now(), waiting))) return prepare()
    const view = cycle.view ?? (await cycle.reconcile())
    cycle.begin('commit')
    const commitment = await cycle.commit(view)
    counted = undefined
    if (commitment.kind === 'wait') return options.pollMs
    return commitment.kind === 'built' && commitment.isFull ? 0 : prepare()
  }

  /** An unavailable queue delays nothing else. */
  async function resubmitRemoved(): Promise<void> {
    try {
      await resubmit(context)
      unqueued = ''
    } catch (error) {
      if (refusalOf(error)?.code === 'SEQUENCER_NOT_ACTIVE') throw error
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== unqueued) log.warn({ err: error }, `Transactions of removed blocks wait: ${reason}`)
      unqueued = reason
    }
  }

  async function cleanUp(now: number): Promise<void> {
    const { layer1, contracts, slots, signal } = context
    if (now - cleanedUpAt < cleanUpEveryMs) return
    cleanedUpAt = now
    await store.blocks.forgetSpent(new Date(Date.now() - finalAfterMs), context.lease)
    await store.resubmissions.forget(new Date(Date.now() - removalsKeptMs))
    await store.answers.forget(new Date(Date.now() - removalsKeptMs))
    // Nothing can be asked about a block whose maturity window has ended.
    const kept = contracts.parameters.maturityWindow + BigInt(finalAfterMs)
    const { slot } = await layer1.tip({ signal })
    await store.bodies.forget(slotToTime(slots, slot) - kept)
  }

  async function runOnce(): Promise<number> {
    const now = performance.now()
    counted = undefined
    if (await isQuiet(now)) return prepare()
    // The next steps may return transactions to the mempool.
    emptyAt = undefined
    cycle.begin('reconcile')
    await cycle.reconcile().catch(fillAndThrow)
    reconciledAt = now
    // Without an administrator, the operator registers after the queue has begun.
    if (mayInit && (await findInitialised(context)) === undefined) throw notInitialised()
    mayInit = false
    await resubmitRemoved()
    // Before what may fail: questions do not wait.
    if (context.cache.mayLackAnswerFunds) {
      const { tip } = cycle.view ?? (await cycle.reconcile())
      await fundAnswerWallet(context, tip.slot)
    }
    if (await merge(now)) await cycle.reconcile()
    const next = await commit()
    await cleanUp(now)
    return next
  }

  /** Store and layer 1 do not agree: questions about blocks in the queue are to be answered nevertheless. */
  async function fillAndThrow(error: unknown): Promise<never> {
    const { cache, layer1, signal } = context
    const code = refusalOf(error)?.code ?? (isLayer1Error(error) ? error.code : '')
    if (unreadableQueue.includes(code) && cache.mayLackAnswerFunds)
      await fundAnswerWallet(context, (await layer1.tip({ signal })).slot)
    throw error
  }

  /** @returns milliseconds until the next call: fewer while a block fills up, or if one is due before */
  async function prepare(): Promise<number> {
    const { pollMs } = options
    if (cycle.isOperationWaiting) return pollMs
    const next = (await prepareBlock(context, await count())) ? Math.min(pollMs, fillingMs) : pollMs
    const due = cycle.policy.dueIn(cycle.now())
    return due > 0 ? Math.min(next, due) : next
  }

  async function initialiseAtStart(): Promise<void> {
    mayInit = (await store.blocks.newest()) === undefined
    if (!mayInit) return
    cycle.begin('init')
    const lock = await lockOperation(store, options.holder, 'init', options.leaseMs)
    // Another operation runs, or the lock of a killed process has not expired yet.
    if (typeof lock === 'string') return
    try {
      await initialise(context)
      mayInit = false
    } finally {
      await lock.release()
    }
  }

  async function runOrInitialise(): Promise<number> {
    try {
      return await runOnce()
    } catch (error) {
      if (refusalOf(error)?.code !== 'SEQUENCER_NOT_INITIALISED') throw error
      if (!mayInit) {
        // A queue that can never begin is another fault: the settings are those of another deployment.
        await deploymentToStart(context)
        throw error
      }
    }
    await initialiseAtStart()
    return options.pollMs
  }

  function handleFailure(error: unknown): number | undefined {
    failures++
    const refusal = refusalOf(error)
    if (refusal?.code === 'SEQUENCER_NOT_ACTIVE') return undefined
    const expected = refusal ? ([{ code: refusal.code }, refusal.message] as const) : passingLine(error)
    unexpected = expected ? 0 : unexpected + 1
    if (refusal !== undefined) cycle.fail(refusal)
    else if (unexpected >= manyFailures) cycle.fail(failed(unexpected))
    const message = error instanceof Error ? error.message : String(error)
    // One line per cause, not per attempt.
    if (message !== reported) {
      if (expected) log.warn(...expected)
      else log.error({ err: error }, 'The sequencer failed unexpectedly; it retries')
    }
    reported = message
    return Math.min(options.pollMs * 2 ** Math.min(failures, 10), maxBackoffMs)
  }

  return {
    async tick() {
      try {
        const next = await runOrInitialise()
        failures = 0
        unexpected = 0
        reported = ''
        cycle.succeed()
        return next
      } catch (error) {
        return handleFailure(error)
      }
    },
    cancelInit() {
      mayInit = false
    },
  }
}

/** The log line of a failure that passes without an operator; undefined for any other. */
function passingLine(error: unknown): readonly [fields: object, line: string] | undefined {
  if (isLayer1Error(error))
    return [{ code: error.code, reason: error.reason }, `Layer 1 failed: ${error.message}`]
  if (isStoreError(error) && error.retryable)
    return [{ code: error.code }, `The store failed: ${error.message}`]
  return undefined
}
