import { toHex } from '@ratatosk/cbor'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { Block } from '@ratatosk/store'
import pTimeout from 'p-timeout'
import type { Cycle } from './cycle.js'
import { lockOperation } from './operation-lock.js'
import { registerOwn, releaseOwn, retireOwn } from './operations/bond.js'
import { repair, reset } from './operations/burn-queue.js'
import { findInitialised, initialise } from './operations/init.js'
import { remove } from './operations/remove.js'

const timedOut: OperationResult = { kind: 'timed-out', message: 'The operation may still take effect' }
const rejected: OperationResult = { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }

/** Runs operations: one at a time across all processes, and between the steps of scheduled work. */
export function createOperationRunner(
  cycle: Cycle,
): (operation: Operation, details?: OperationDetails) => Promise<OperationResult> {
  const { context } = cycle
  const { store, log, options } = context

  async function commit(deadline: number): Promise<OperationResult> {
    const commitment = await cycle.runOperation('commit', async () => {
      for (;;) {
        const attempt = await cycle.commit(await cycle.reconcile())
        if (attempt.kind !== 'wait') return attempt
        // A block of another operator stays for long, and so do some states of the own one.
        const { reason } = attempt
        const lastsUntil = performance.now() + (reason.lastsMs ?? 0)
        if (reason === cycle.fault || lastsUntil > deadline) throw reason
        await context.pause(options.pollMs)
      }
    })
    if (commitment.kind !== 'built') return { kind: 'nothing-to-commit' }
    return outcomeOf(commitment.block, deadline, ({ state, headerHash, transactions, commitTransaction }) => {
      if (state === 'built' || state === 'submitted') return undefined
      if (state === 'removed') return rejected
      const transactionId = commitTransaction ? toHex(commitTransaction.id) : ''
      return { kind: 'committed', headerHash: toHex(headerHash), transactionId, transactions }
    })
  }

  async function merge(deadline: number): Promise<OperationResult> {
    const block = await cycle.runOperation('merge', async () => {
      const view = await cycle.reconcile()
      const unconfirmed = view.pending.find(({ kind }) => kind === 'merge')
      const [merging] = await cycle.merge(view, 1)
      return (merging ?? unconfirmed)?.block
    })
    if (block === undefined) return { kind: 'nothing-to-merge' }
    return outcomeOf(block, deadline, ({ state, headerHash, mergeTransaction }) => {
      const transactionId = mergeTransaction ? toHex(mergeTransaction.id) : ''
      if (state === 'merged') return { kind: 'merged', headerHash: toHex(headerHash), transactionId }
      const isDead = mergeTransaction && context.cache.deadMerges.has(mergeTransaction.id)
      return state === 'removed' || isDead ? rejected : undefined
    })
  }

  /** Waits until scheduled work has recorded the outcome of a block. */
  async function outcomeOf(
    { headerHash }: Block,
    deadline: number,
    resultIn: (block: Block) => OperationResult | undefined,
  ): Promise<OperationResult> {
    while (performance.now() < deadline) {
      const block = await store.blocks.byHash(headerHash)
      // A block with another header has taken its place.
      if (block === undefined) return rejected
      const result = resultIn(block)
      if (result !== undefined) return result
      await context.pause(options.pollMs)
    }
    return timedOut
  }

  function perform(operation: Operation, { headerHash = '' }: OperationDetails): Promise<OperationResult> {
    const deadline = performance.now() + options.operationTimeoutMs
    switch (operation) {
      case 'init':
        return cycle.runOperation('init', () => initialise(context))
      case 'repair':
        return cycle.runOperation('repair', () => repair(context))
      case 'reset':
        return cycle.runOperation('reset', () => reset(context))
      case 'remove':
        return cycle.runOperation('remove', () => remove(context, headerHash))
      case 'register':
        return cycle.runOperation('register', () => registerOwn(context))
      case 'retire':
        return cycle.runOperation('retire', () => retireOwn(context))
      case 'release':
        return cycle.runOperation('release', () => releaseOwn(context))
      case 'commit':
        return commit(deadline)
      case 'merge':
        return merge(deadline)
    }
  }

  return async function runOperation(operation, details = {}) {
    if (operation === 'init') {
      const existing = await findInitialised(context)
      if (existing !== undefined) return existing
    }
    if (operation === 'commit' && cycle.isCommitting) return { kind: 'busy', operation: 'commit' }
    const lock = await lockOperation(store, options.holder, operation, options.leaseMs)
    if (typeof lock === 'string') return { kind: 'busy', operation: lock }
    const done = perform(operation, details).finally(() =>
      lock
        .release()
        .catch((error) => log.warn({ err: error }, 'The operation lock could not be released; it expires')),
    )
    // An operation that exceeds its time keeps the lock until it ends, and logs its result.
    const late = (): OperationResult => {
      done.then(
        ({ kind }) => log.info({ operation, kind }, `${operation} ended after its time limit: ${kind}`),
        (error) => log.warn({ operation, err: error }, `${operation} failed after its time limit`),
      )
      return timedOut
    }
    return pTimeout(done, { milliseconds: options.operationTimeoutMs, fallback: late })
  }
}
