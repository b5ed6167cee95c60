import type { Operation } from '@ratatosk/ports'
import { Mutex } from 'async-mutex'
import { buildBlock, type Commitment } from './blocks/build-block.js'
import { mergeBlocks } from './blocks/merge-blocks.js'
import { hasDueEvents } from './blocks/plan-block.js'
import { type CommitPolicy, createCommitPolicy, createWaitingBlocks, loadSpending } from './commit-policy.js'
import type { SequencerContext } from './context.js'
import { disagreements, type SequencerError } from './errors.js'
import { compareQueue } from './queue/compare-queue.js'
import { type QueueView, reconcile } from './queue/reconcile.js'
import { alignRoots } from './state/ledger-state.js'
import type { PendingTransaction } from './state/queue-elements.js'

type Activity = Operation | 'reconcile'

/** When the block after a view begins. */
const endOf = ({ local: { newest }, root }: QueueView): bigint => newest?.endTime ?? root.datum.state.endTime

/** Faults that end when store and layer 1 agree, which is logged. */
const endingFaults: readonly string[] = [...disagreements, 'SEQUENCER_INVALID_BLOCK']
const endsByAgreement = ({ code }: SequencerError): boolean => endingFaults.includes(code)

/**
 * State of scheduled work and operations under one lease. One runs at a time; operations come first. Only its
 * methods write its fields.
 */
export class Cycle {
  readonly context: SequencerContext
  readonly policy: CommitPolicy
  readonly #waitingBlocks: ReturnType<typeof createWaitingBlocks>
  readonly #mutex = new Mutex()
  activity: Activity | undefined
  isCommitting = false
  /** Why nothing is committed or merged. */
  fault: SequencerError | undefined
  /** The result of the latest reconciliation; undefined when it is out of date. */
  view: QueueView | undefined
  #failing: { readonly code: string; readonly since: number } | undefined
  #operations = 0
  #areRootsAligned = false

  constructor(context: SequencerContext) {
    const { options, slots, log } = context
    this.context = context
    this.policy = createCommitPolicy({ ...options, slots, log })
    this.#waitingBlocks = createWaitingBlocks(log)
  }

  /** Milliseconds since the first of the failures in a row with the code of `fault`; 0 without one. */
  get faultMs(): number {
    const failing = this.#failing
    return failing !== undefined && failing.code === this.fault?.code ? this.now() - failing.since : 0
  }

  /** Records what is running, until it ends. */
  begin(activity: Activity): void {
    this.activity = activity
  }

  /** Records why nothing is committed or merged, until scheduled work or an operation succeeds. */
  fail(fault: SequencerError): void {
    this.fault = fault
    if (this.#failing?.code !== fault.code) this.#failing = { code: fault.code, since: this.now() }
  }

  /** Records that scheduled work has ended well. */
  succeed(): void {
    this.fault = this.context.cache.obstacle?.reason
    this.#failing = undefined
  }

  /** Makes store, output trie and layer 1 agree. */
  async reconcile(): Promise<QueueView> {
    const { context } = this
    const { store, commits, log } = context
    if (!this.#areRootsAligned) {
      // First, because the newest block may be one that layer 1 has removed and that the ledger never led to.
      await compareQueue(context)
      await alignRoots(context, await store.blocks.newest())
      await loadSpending(this.policy.meter, store, this.now())
      this.#areRootsAligned = true
    }
    const view = await reconcile(context)
    this.view = view
    if (commits.hasMissed && view.pending.length === 0 && (await store.blocks.waiting(1)) === 0)
      commits.arrived()
    commits.see(view.pending)
    const { obstacle } = view
    const { fault } = this
    if (obstacle !== undefined && obstacle.message !== fault?.message)
      log.warn({ code: obstacle.code }, obstacle.message)
    const isEnding = fault !== undefined && endsByAgreement(fault)
    if (obstacle === undefined && isEnding) log.info({}, 'Store and layer 1 agree again')
    // The fault of a commit may last: only work that ends well ends it.
    if (obstacle !== undefined || isEnding) this.fault = obstacle
    return view
  }

  /** Commits a block and records what it costs; logs if one waits for long. */
  async commit(view: QueueView): Promise<Exclude<Commitment, { kind: 'outdated' }>> {
    const { context } = this
    const begun = this.now()
    // Before it counts as committing: an operation is not refused because scheduled work finds an empty
    // mempool.
    if ((await context.store.blocks.waiting(1)) === 0 && !(await hasDueEvents(context, endOf(view)))) {
      this.#waitingBlocks.ended()
      return { kind: 'nothing' }
    }
    this.isCommitting = true
    let isViewCurrent = false
    try {
      let commitment = await buildBlock(context, view)
      while (commitment.kind === 'outdated') commitment = await buildBlock(context, await this.reconcile())
      if (commitment.kind === 'wait') this.#waitingBlocks.waits(begun, commitment.reason)
      else this.#waitingBlocks.ended()
      if (commitment.kind === 'built')
        this.policy.committed(begun, this.now(), commitment.fee, commitment.isFull)
      isViewCurrent = commitment.kind !== 'built'
      return commitment
    } finally {
      this.isCommitting = false
      if (!isViewCurrent) this.view = undefined
    }
  }

  /** Merges mature blocks and records what they cost. */
  async merge(view: QueueView, limit: number): Promise<readonly PendingTransaction[]> {
    const merging = await mergeBlocks(this.context, view, limit)
    for (const { transaction } of merging) this.policy.merged(this.now(), transaction.body.fee)
    return merging
  }

  /** Milliseconds since the epoch by a clock that never goes back. */
  now(): number {
    return performance.timeOrigin + performance.now()
  }

  /** Runs an operation as soon as the running step ends. */
  async runOperation<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    this.#operations++
    try {
      return await this.#mutex.runExclusive(async () => {
        this.activity = operation
        try {
          const result = await run()
          this.fault = undefined
          this.#failing = undefined
          return result
        } finally {
          this.activity = undefined
          this.view = undefined
        }
      })
    } finally {
      this.#operations--
    }
  }

  get isOperationWaiting(): boolean {
    return this.#operations > 0
  }

  /** Runs scheduled work now; returns undefined, without running it, while something else runs. */
  tryRunScheduled<T>(run: () => Promise<T>): Promise<T> | undefined {
    if (this.#mutex.isLocked()) return undefined
    return this.#mutex.runExclusive(async () => {
      try {
        return await run()
      } finally {
        this.activity = undefined
      }
    })
  }

  idle(): Promise<void> {
    return this.#mutex.runExclusive(async () => undefined)
  }
}
