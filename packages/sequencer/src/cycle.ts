import type { Operation } from '@ratatosk/ports'
import { Mutex } from 'async-mutex'
import { buildBlock, type Commitment } from './blocks/build-block.js'
import { hasDueEvents } from './blocks/due-events.js'
import { mergeBlocks } from './blocks/merge-blocks.js'
import { type CommitPolicy, createCommitPolicy, createWaitingBlocks } from './commit-policy.js'
import type { SequencerContext } from './context.js'
import { disagreements, type SequencerError } from './errors.js'
import { compareQueue } from './queue/compare-queue.js'
import { type QueueView, reconcile } from './queue/reconcile.js'
import { loadSpending } from './spending.js'
import { alignRoots } from './state/ledger-state.js'
import type { PendingTransaction } from './state/queue-elements.js'

type Activity = Operation | 'reconcile'

/** State of scheduled work and operations under one lease. One runs at a time; operations come first. */
export interface Cycle {
  readonly context: SequencerContext
  readonly activity: Activity | undefined
  readonly isCommitting: boolean
  /** Why nothing is committed or merged. */
  readonly fault: SequencerError | undefined
  /** Milliseconds since the first of the failures in a row with the code of `fault`; 0 without one. */
  readonly faultMs: number
  /** The result of the latest reconciliation; undefined when it is out of date. */
  readonly view: QueueView | undefined
  /** Records what is running, until it ends. */
  begin(activity: Activity): void
  /** Records why nothing is committed or merged, until scheduled work or an operation succeeds. */
  fail(fault: SequencerError): void
  /** Records that scheduled work has ended well. */
  succeed(): void
  /** Makes store, output trie and layer 1 agree. */
  reconcile(): Promise<QueueView>
  /** Commits a block and records what it costs; logs if one waits for long. */
  commit(view: QueueView): Promise<Exclude<Commitment, { kind: 'outdated' }>>
  /** Merges mature blocks and records what they cost. */
  merge(view: QueueView, limit: number): Promise<readonly PendingTransaction[]>
  readonly policy: CommitPolicy
  /** Milliseconds since the epoch by a clock that never goes back. */
  now(): number
  /** Runs an operation as soon as the running step ends. */
  runOperation<T>(operation: Operation, run: () => Promise<T>): Promise<T>
  readonly isOperationWaiting: boolean
  /** Runs scheduled work now; returns undefined, without running it, while something else runs. */
  tryRunScheduled<T>(run: () => Promise<T>): Promise<T> | undefined
  idle(): Promise<void>
}

/** When the block after a view begins. */
const endOf = ({ local: { newest }, root }: QueueView): bigint => newest?.endTime ?? root.datum.state.endTime

/** Faults that end when store and layer 1 agree, which is logged. */
const endingFaults: readonly string[] = [...disagreements, 'SEQUENCER_INVALID_BLOCK']
const endsByAgreement = ({ code }: SequencerError): boolean => endingFaults.includes(code)

export function createCycle(context: SequencerContext): Cycle {
  const { store, log, slots, options, commits } = context
  const mutex = new Mutex()
  const policy = createCommitPolicy({ ...options, slots, log })
  const waitingBlocks = createWaitingBlocks(log)
  const now = (): number => performance.timeOrigin + performance.now()
  let operations = 0
  let activity: Activity | undefined
  let fault: SequencerError | undefined
  let failing: { readonly code: string; readonly since: number } | undefined
  let view: QueueView | undefined
  let isCommitting = false
  let areRootsAligned = false

  async function agree(): Promise<QueueView> {
    if (!areRootsAligned) {
      // First, because the newest block may be one that layer 1 has removed and that the ledger never led to.
      await compareQueue(context)
      await alignRoots(context, await store.blocks.newest())
      await loadSpending(policy.meter, store, now())
      areRootsAligned = true
    }
    view = await reconcile(context)
    if (commits.hasMissed && view.pending.length === 0 && (await store.blocks.waiting(1)) === 0)
      commits.arrived()
    commits.see(view.pending)
    const { obstacle } = view
    if (obstacle !== undefined && obstacle.message !== fault?.message)
      log.warn({ code: obstacle.code }, obstacle.message)
    if (obstacle === undefined && fault !== undefined && endsByAgreement(fault))
      log.info({}, 'Store and layer 1 agree again')
    // The fault of a commit may last: only work that ends well ends it.
    if (obstacle !== undefined || (fault !== undefined && endsByAgreement(fault))) fault = obstacle
    return view
  }

  return {
    context,
    get activity() {
      return activity
    },
    get fault() {
      return fault
    },
    get faultMs() {
      return failing !== undefined && failing.code === fault?.code ? now() - failing.since : 0
    },
    get view() {
      return view
    },
    get isCommitting() {
      return isCommitting
    },
    begin(next) {
      activity = next
    },
    fail(reason) {
      fault = reason
      if (failing?.code !== reason.code) failing = { code: reason.code, since: now() }
    },
    succeed() {
      fault = context.cache.obstacle?.reason
      failing = undefined
    },
    reconcile: agree,

    async commit(present) {
      const begun = now()
      // Before it counts as committing: an operation is not refused because scheduled work finds an empty
      // mempool.
      if ((await store.blocks.waiting(1)) === 0 && !(await hasDueEvents(context, endOf(present)))) {
        waitingBlocks.ended()
        return { kind: 'nothing' }
      }
      isCommitting = true
      let isViewCurrent = false
      try {
        let commitment = await buildBlock(context, present)
        while (commitment.kind === 'outdated') commitment = await buildBlock(context, await agree())
        if (commitment.kind === 'wait') waitingBlocks.waits(begun, commitment.reason)
        else waitingBlocks.ended()
        if (commitment.kind === 'built') policy.committed(begun, now(), commitment.fee, commitment.isFull)
        isViewCurrent = commitment.kind !== 'built'
        return commitment
      } finally {
        isCommitting = false
        if (!isViewCurrent) view = undefined
      }
    },

    async merge(present, limit) {
      const merging = await mergeBlocks(context, present, limit)
      for (const { transaction } of merging) policy.merged(now(), transaction.body.fee)
      return merging
    },

    policy,
    now,

    async runOperation(operation, run) {
      operations++
      try {
        return await mutex.runExclusive(async () => {
          activity = operation
          try {
            const result = await run()
            fault = undefined
            failing = undefined
            return result
          } finally {
            activity = undefined
            view = undefined
          }
        })
      } finally {
        operations--
      }
    },

    get isOperationWaiting() {
      return operations > 0
    },

    tryRunScheduled(run) {
      if (mutex.isLocked()) return undefined
      return mutex.runExclusive(async () => {
        try {
          return await run()
        } finally {
          activity = undefined
        }
      })
    },

    idle: () => mutex.runExclusive(async () => undefined),
  }
}
