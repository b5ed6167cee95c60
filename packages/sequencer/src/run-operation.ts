import { toHex } from '@ratatosk/cbor'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { Block, HeldLease, Store } from '@ratatosk/store'
import pTimeout from 'p-timeout'
import type { SequencerContext } from './context.js'
import type { Cycle } from './cycle.js'
import { registerOwn, releaseOwn, retireOwn } from './operations/bond.js'
import { findInitialised, initialise } from './operations/init.js'
import { remove, repair, reset } from './operations/repair.js'

const timedOut: OperationResult = { kind: 'timed-out', message: 'The operation may still take effect' }
const rejected: OperationResult = { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }

/** Those that end with their transaction. */
const simple: {
  readonly [Each in Exclude<Operation, 'commit' | 'merge' | 'remove'>]: (
    context: SequencerContext,
  ) => Promise<OperationResult>
} = {
  init: initialise,
  repair,
  reset,
  register: registerOwn,
  retire: retireOwn,
  release: releaseOwn,
}

/** Runs an operation: one at a time across all processes, and between the steps of scheduled work. */
export async function runOperation(
  cycle: Cycle,
  operation: Operation,
  details: OperationDetails = {},
): Promise<OperationResult> {
  const { store, log, options } = cycle.context
  if (operation === 'init') {
    const existing = await findInitialised(cycle.context)
    if (existing !== undefined) return existing
  }
  if (operation === 'commit' && cycle.isCommitting) return { kind: 'busy', operation: 'commit' }
  const lock = await lockOperation(store, options.holder, operation, options.leaseMs)
  if (typeof lock === 'string') return { kind: 'busy', operation: lock }
  const done = perform(cycle, operation, details).finally(() =>
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

function perform(
  cycle: Cycle,
  operation: Operation,
  { headerHash = '' }: OperationDetails,
): Promise<OperationResult> {
  const { context } = cycle
  const deadline = performance.now() + context.options.operationTimeoutMs
  if (operation === 'commit') return commit(cycle, deadline)
  if (operation === 'merge') return merge(cycle, deadline)
  const run = operation === 'remove' ? () => remove(context, headerHash) : () => simple[operation](context)
  return cycle.runOperation(operation, run)
}

async function commit(cycle: Cycle, deadline: number): Promise<OperationResult> {
  const { context } = cycle
  const commitment = await cycle.runOperation('commit', async () => {
    for (;;) {
      const attempt = await cycle.commit(await cycle.reconcile())
      if (attempt.kind !== 'wait') return attempt
      // A block of another operator stays for long, and so do some states of the own one.
      const { reason } = attempt
      const lastsUntil = performance.now() + (reason.lastsMs ?? 0)
      if (reason === cycle.fault || lastsUntil > deadline) throw reason
      await context.pause(context.options.pollMs)
    }
  })
  if (commitment.kind !== 'built') return { kind: 'nothing-to-commit' }
  const { block } = commitment
  return outcomeOf(context, block, deadline, ({ state, headerHash, transactions, commitTransaction }) => {
    if (state === 'built' || state === 'submitted') return undefined
    if (state === 'removed') return rejected
    const transactionId = commitTransaction ? toHex(commitTransaction.id) : ''
    return { kind: 'committed', headerHash: toHex(headerHash), transactionId, transactions }
  })
}

async function merge(cycle: Cycle, deadline: number): Promise<OperationResult> {
  const { context } = cycle
  const block = await cycle.runOperation('merge', async () => {
    const view = await cycle.reconcile()
    const unconfirmed = view.pending.find(({ kind }) => kind === 'merge')
    const [merging] = await cycle.merge(view, 1)
    return (merging ?? unconfirmed)?.block
  })
  if (block === undefined) return { kind: 'nothing-to-merge' }
  return outcomeOf(context, block, deadline, ({ state, headerHash, mergeTransaction }) => {
    const transactionId = mergeTransaction ? toHex(mergeTransaction.id) : ''
    if (state === 'merged') return { kind: 'merged', headerHash: toHex(headerHash), transactionId }
    const isDead = mergeTransaction && context.cache.deadMerges.has(mergeTransaction.id)
    return state === 'removed' || isDead ? rejected : undefined
  })
}

/** Waits until scheduled work has recorded the outcome of a block. */
async function outcomeOf(
  { store, options, pause }: SequencerContext,
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
    await pause(options.pollMs)
  }
  return timedOut
}

const operationLock = 'operation'
const operations: readonly Operation[] = [
  'init',
  'commit',
  'merge',
  'reset',
  'repair',
  'remove',
  'register',
  'retire',
  'release',
]

/**
 * The operation that is running, in whichever process. It holds the operation lock, which is a lease: the
 * lock of a killed process expires.
 *
 * @example
 * const operation = await operationUnderWay(store)
 * const resetInProgress = operation === 'reset' || operation === 'init' || operation === 'repair'
 */
export async function operationUnderWay({ leases }: Pick<Store, 'leases'>): Promise<Operation | undefined> {
  const lease = await leases.current(operationLock)
  const name = lease?.holder.slice(lease.holder.lastIndexOf(':') + 1)
  return operations.find((operation) => operation === name)
}

/** Takes the operation lock. Resolves with the running operation when another one holds it. */
export async function lockOperation(
  store: Pick<Store, 'leases'>,
  holder: string,
  operation: Operation,
  ttlMs: number,
): Promise<HeldLease | Operation> {
  for (;;) {
    const held = await store.leases.hold(operationLock, `${holder}:${operation}`, ttlMs)
    if (held !== undefined) return held
    const running = await operationUnderWay(store)
    // Undefined when the lock was freed between both reads: try again.
    if (running !== undefined) return running
  }
}
