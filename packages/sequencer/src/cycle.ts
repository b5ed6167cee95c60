import type { Operation } from '@ratatosk/ports'
import { Mutex } from 'async-mutex'
import { type Commitment, commitBlock } from './blocks/commit-block.js'
import { compareQueue } from './blocks/compare-queue.js'
import { alignRoots } from './blocks/ledger-state.js'
import { mergeBlocks } from './blocks/merge-blocks.js'
import type { PendingTransaction } from './blocks/pending-transactions.js'
import { type QueueView, reconcile } from './blocks/reconcile.js'
import { type CommitPolicy, createCommitPolicy } from './commit-policy.js'
import type { SequencerContext } from './context.js'
import type { SequencerError } from './errors.js'
import { loadSpending } from './spending.js'
import { createWaitingBlocks } from './waiting-blocks.js'

/**
 * The state that scheduled work and operations share under one lease. One of them runs at a time; operations
 * take precedence, and scheduled work checks `isOperationWaiting` between its steps.
 */
export interface Cycle {
  readonly context: SequencerContext
  /** What is running. */
  activity: Operation | 'reconcile' | undefined
  /** Whether a block is being built. */
  readonly isCommitting: boolean
  /** Why nothing is committed or merged. */
  fault: SequencerError | undefined
  /** The result of the latest reconciliation; undefined when it is out of date. */
  view: QueueView | undefined
  /** Makes store, output trie and layer 1 agree. */
  reconcile(): Promise<QueueView>
  /** Commits a block and records what it costs; the log tells if one waits for long. */
  commit(view: QueueView): Promise<Exclude<Commitment, { kind: 'outdated' }>>
  /** Merges mature blocks and records what they cost. */
  merge(view: QueueView, limit: number): Promise<readonly PendingTransaction[]>
  readonly policy: CommitPolicy
  /** Milliseconds since the epoch by a clock that never goes back. */
  now(): number
  /** Runs an operation as soon as the running step ends. */
  runOperation<T>(operation: Operation, run: () => Promise<T>): Promise<T>
  /** Whether an operation waits or runs. */
  readonly isOperationWaiting: boolean
  /** Runs scheduled work now; returns undefined, without running it, while something else runs. */
  tryRunScheduled<T>(run: () => Promise<T>): Promise<T> | undefined
  /** Resolves when nothing runs. */
  idle(): Promise<void>
}

export function createCycle(context: SequencerContext): Cycle {
  const mutex = new Mutex()
  let operations = 0
  const policy = createCommitPolicy(context)
  const waitingBlocks = createWaitingBlocks(context.log)
  const now = (): number => performance.timeOrigin + performance.now()
  let areRootsAligned = false

  const cycle = {
    context,
    activity: undefined as Cycle['activity'],
    isCommitting: false,
    fault: undefined as Cycle['fault'],
    view: undefined as Cycle['view'],

    async reconcile() {
      if (!areRootsAligned) {
        // First, because the newest block may be one that layer 1 has removed and that the ledger never led
        // to.
        await compareQueue(context)
        await alignRoots(context, await context.store.blocks.newest())
        await loadSpending(policy.meter, context.store, now())
        areRootsAligned = true
      }
      const view = await reconcile(context)
      cycle.view = view
      if (cycle.fault !== undefined) context.log.info({}, 'Store and layer 1 agree again')
      cycle.fault = undefined
      return view
    },

    async commit(view: QueueView) {
      const begun = now()
      // Before it counts as committing: an operation is not refused because scheduled work looks at an empty
      // mempool.
      if ((await context.store.blocks.waiting(1)) === 0) {
        waitingBlocks.ended()
        return { kind: 'nothing' } as const
      }
      cycle.isCommitting = true
      let isViewCurrent = false
      try {
        let commitment = await commitBlock(context, view)
        while (commitment.kind === 'outdated')
          commitment = await commitBlock(context, await cycle.reconcile())
        if (commitment.kind === 'wait') waitingBlocks.waits(begun, commitment.reason)
        else waitingBlocks.ended()
        if (commitment.kind === 'built') policy.committed(begun, now(), commitment.fee, commitment.isFull)
        isViewCurrent = commitment.kind !== 'built'
        return commitment
      } finally {
        cycle.isCommitting = false
        if (!isViewCurrent) cycle.view = undefined
      }
    },

    async merge(view: QueueView, limit: number) {
      const merging = await mergeBlocks(context, view, limit)
      for (const { transaction } of merging) policy.merged(now(), transaction.body.fee)
      return merging
    },

    policy,
    now,

    async runOperation<T>(operation: Operation, run: () => Promise<T>) {
      operations++
      try {
        return await mutex.runExclusive(async () => {
          cycle.activity = operation
          try {
            return await run()
          } finally {
            cycle.activity = undefined
            cycle.view = undefined
          }
        })
      } finally {
        operations--
      }
    },

    get isOperationWaiting() {
      return operations > 0
    },

    tryRunScheduled: <T>(run: () => Promise<T>) => (mutex.isLocked() ? undefined : mutex.runExclusive(run)),

    idle: () => mutex.runExclusive(async () => undefined),
  }
  return cycle
}
