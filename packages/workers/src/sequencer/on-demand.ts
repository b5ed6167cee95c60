import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import type { Gate } from './gate.js'
import { mergeBlocks } from './life/merge-blocks.js'
import type { Work } from './life/work.js'
import { lockOperation } from './operation-lock.js'
import { findRoot, initialise } from './programs/init.js'
import { repair } from './programs/repair.js'
import { reset } from './programs/reset.js'
import type { Operation, OperationResult } from './types.js'
import type { Watch } from './watch.js'

const timedOut: OperationResult = { kind: 'layer1-failed', cause: 'timeout', code: 'LAYER1_TIMEOUT' }
const rejected: OperationResult = { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }

/** Runs one operation at a time over all processes, and between the steps that are done by themselves. */
export function createOnDemand(watch: Watch, gate: Gate): (operation: Operation) => Promise<OperationResult> {
  const { work } = watch
  const { store, log } = work

  /** Runs what must not meet another step. */
  function alone<T>(operation: Operation, step: () => Promise<T>): Promise<T> {
    return gate.enter(async () => {
      watch.doing = operation
      try {
        return await step()
      } finally {
        watch.doing = undefined
        watch.standing = undefined
      }
    })
  }

  function program(
    operation: Operation,
    run: (work: Work) => Promise<OperationResult>,
  ): Promise<OperationResult> {
    return alone(operation, async () => {
      const result = await run(work)
      watch.fault = undefined
      return result
    })
  }

  async function commitOnce(deadline: number): Promise<OperationResult> {
    const commitment = await alone('commit', async () => {
      for (;;) {
        const made = await watch.commit(await watch.look())
        if (made.kind !== 'wait') return made
        if (performance.now() > deadline) throw made.why
        await work.pause(work.pollMs)
      }
    })
    if (commitment.kind !== 'built') return { kind: 'nothing-to-commit' }
    return outcomeOf(commitment.block, deadline, ({ state, headerHash, transactions, commitTransaction }) => {
      if (state === 'built' || state === 'submitted') return undefined
      if (state === 'removed') return rejected
      const transactionId = toHex(commitTransaction.id)
      return { kind: 'committed', headerHash: toHex(headerHash), transactionId, transactions }
    })
  }

  async function mergeOnce(deadline: number): Promise<OperationResult> {
    const block = await alone('merge', async () => {
      const found = await watch.look()
      const leaving = found.links.find(({ kind }) => kind === 'merge')
      const [merging] = await mergeBlocks(work, found, 1)
      return merging ?? leaving?.block
    })
    if (block === undefined) return { kind: 'nothing-to-merge' }
    return outcomeOf(block, deadline, ({ state, headerHash, mergeTransaction }) => {
      const transactionId = mergeTransaction ? toHex(mergeTransaction.id) : ''
      if (state === 'merged') return { kind: 'merged', headerHash: toHex(headerHash), transactionId }
      return state === 'removed' || work.memory.deadMerges.has(transactionId) ? rejected : undefined
    })
  }

  /** Waits until what is done by itself has noted what became of a block. */
  async function outcomeOf(
    { headerHash }: Block,
    deadline: number,
    judge: (block: Block) => OperationResult | undefined,
  ): Promise<OperationResult> {
    while (performance.now() < deadline) {
      const block = await store.blocks.byHash(headerHash)
      // Its place was taken by a block with another header.
      if (block === undefined) return rejected
      const result = judge(block)
      if (result !== undefined) return result
      await work.pause(work.pollMs)
    }
    return timedOut
  }

  function perform(operation: Operation): Promise<OperationResult> {
    const deadline = performance.now() + work.operationTimeoutMs
    switch (operation) {
      case 'init':
        return program('init', initialise)
      case 'repair':
        return program('repair', repair)
      case 'reset':
        return program('reset', reset)
      case 'commit':
        return commitOnce(deadline)
      case 'merge':
        return mergeOnce(deadline)
    }
  }

  return async function run(operation) {
    if (operation === 'init') {
      const existing = await findRoot(work)
      if (existing !== undefined) return existing
    }
    if (operation === 'commit' && watch.committing) return { kind: 'busy', operation: 'commit' }
    const lock = await lockOperation(store, work.holder, operation, work.leaseMs)
    if (typeof lock === 'string') return { kind: 'busy', operation: lock }
    const done = perform(operation).finally(() =>
      lock
        .release()
        .catch((error) => log.warn({ err: error }, 'the lock of an operation ends with its lease')),
    )
    // What goes on behind a time-out keeps the lock until it ends, and says so in the log.
    const waiting = new AbortController()
    const late = sleep(work.operationTimeoutMs, timedOut, { signal: waiting.signal }).catch(() => timedOut)
    const result = await Promise.race([done, late]).finally(() => waiting.abort())
    if (result === timedOut) {
      done.then(
        ({ kind }) => log.info({ operation, kind }, `${operation} ended after its time: ${kind}`),
        (error) => log.warn({ operation, err: error }, `${operation} failed after its time`),
      )
    }
    return result
  }
}
