import { setTimeout as sleep } from 'node:timers/promises'
import { isLayer1Error } from '@ratatosk/layer1'
import { equalBytes, type SlotConfig, toHex } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import type { Log } from '../validation/activity.js'
import { createGate } from './gate.js'
import type { HeldLease } from './hold-lease.js'
import { alignRoots } from './life/align-roots.js'
import { type Commitment, commitBlock } from './life/commit-block.js'
import { mergeBlocks } from './life/merge-blocks.js'
import { reconcile, type Standing } from './life/reconcile.js'
import { newMemory, type Settings, type Work } from './life/work.js'
import { lockOperation } from './operation-lock.js'
import { findRoot, initialise } from './programs/init.js'
import { repair } from './programs/repair.js'
import { reset } from './programs/reset.js'
import { notActive, type Refusal, refusalOf, resultOf } from './refusal.js'
import type { Operation, OperationResult, Step } from './types.js'

export interface SessionOptions {
  readonly settings: Settings
  readonly held: HeldLease
  readonly slots: SlotConfig
  readonly log: Log
  /** Aborts when the sequencer closes. */
  readonly closing: AbortSignal
  step(name: Step): void
}

/** The work under one lease: what is done by itself, and operations in between. */
export interface Session {
  readonly doing: Operation | 'reconcile' | undefined
  /** Why nothing is committed or merged. */
  readonly fault: Refusal | undefined
  /** As it was found last. */
  readonly standing: Standing | undefined
  run(operation: Operation): Promise<OperationResult>
  /** Works until the lease is lost or the sequencer closes; resolves when no step is under way any more. */
  loop(): Promise<void>
}

const timedOut: OperationResult = { kind: 'layer1-failed', cause: 'timeout', code: 'LAYER1_TIMEOUT' }
const longestBackoffMs = 15_000

export function openSession({ settings, held, slots, log, closing, step }: SessionOptions): Session {
  const over = new AbortController()
  const ends = AbortSignal.any([held.lost, closing, over.signal])
  const memory = newMemory()
  const work: Work = {
    ...settings,
    slots,
    log,
    memory,
    step,
    signal: AbortSignal.any([held.lost, over.signal]),
    get lease() {
      return held.lease
    },
    async pause(ms) {
      await sleep(ms, undefined, { signal: ends }).catch(() => {
        throw notActive()
      })
    },
  }
  const gate = createGate()
  let aligned = false
  let mayInit = settings.autoInit
  let doing: Session['doing']
  let committing = false
  let fault: Refusal | undefined
  let standing: Standing | undefined
  let lookedAt = -Infinity
  let committedAt = -Infinity
  let mergedAt = -Infinity
  let failures = 0
  let complaint = ''

  async function look(): Promise<Standing> {
    if (!aligned) {
      await alignRoots(work, await work.store.blocks.newest())
      aligned = true
    }
    standing = await reconcile(work)
    lookedAt = performance.now()
    mayInit = false
    if (fault !== undefined) log.info({}, 'store and layer 1 agree again')
    fault = undefined
    return standing
  }

  async function commit(found: Standing): Promise<Commitment> {
    committing = true
    try {
      return await commitBlock(work, found)
    } finally {
      committing = false
    }
  }

  /** Nothing to do but to look now and then whether layer 1 was rolled back. */
  async function isIdle(now: number): Promise<boolean> {
    if (fault !== undefined || standing === undefined || now - lookedAt >= work.mergeEveryMs) return false
    const { newest } = standing.local
    if (newest !== undefined && newest.state !== 'merged') return false
    return !work.autoCommit || (await work.store.blocks.waiting(1)) === 0
  }

  /** @returns whether there is more to do at once */
  async function tick(): Promise<boolean> {
    const now = performance.now()
    if (await isIdle(now)) return false
    let found = await look()
    if (work.autoMerge && now - mergedAt >= work.mergeEveryMs && !gate.yields) {
      mergedAt = now
      const merging = await mergeBlocks(work, found, work.maxUnconfirmed)
      if (merging.length > 0) found = await look()
    }
    if (!work.autoCommit || now - committedAt < work.commitEveryMs || gate.yields) return false
    const commitment = await commit(found)
    if (commitment.kind !== 'built') return false
    lookedAt = -Infinity
    const full = commitment.block.transactions === work.maxBlockTransactions
    if (!full) committedAt = now
    return full
  }

  async function initAtStart(): Promise<void> {
    mayInit = (await work.store.blocks.newest()) === undefined
    if (!mayInit) return
    const lock = await lockOperation(work.store, work.holder, 'init', work.leaseMs)
    // Of a sequencer that was killed, for one: it ends.
    if (typeof lock === 'string') return
    try {
      await initialise(work)
      mayInit = false
    } finally {
      await lock.release()
    }
  }

  /** @returns milliseconds until the next attempt */
  function complain(error: unknown): number {
    failures++
    const refusal = refusalOf(error)
    if (refusal?.code === 'not-active') over.abort()
    if (ends.aborted) return 0
    if (refusal !== undefined) fault = refusal
    const said = refusal?.message ?? (isLayer1Error(error) ? error.message : String(error))
    // Once for each failure, not for each attempt.
    if (said !== complaint) {
      if (refusal !== undefined) log.warn({ code: refusal.code }, refusal.message)
      else if (isLayer1Error(error)) log.warn({ cause: error.kind, reason: error.reason }, `layer 1: ${said}`)
      else log.error({ err: error }, 'a step of the sequencer failed; it is tried again')
    }
    complaint = said
    return refusal ? work.pollMs : Math.min(work.pollMs * 2 ** Math.min(failures, 10), longestBackoffMs)
  }

  async function stepByItself(): Promise<number> {
    doing = 'reconcile'
    try {
      const more = await tick()
      failures = 0
      complaint = ''
      return more ? 0 : work.pollMs
    } catch (error) {
      if (!(mayInit && refusalOf(error)?.code === 'not-initialised')) return complain(error)
    } finally {
      doing = undefined
    }
    doing = 'init'
    try {
      await initAtStart()
      return work.pollMs
    } catch (error) {
      return complain(error)
    } finally {
      doing = undefined
    }
  }

  async function loop(): Promise<void> {
    while (!ends.aborted) {
      const next = await (gate.tryEnter(stepByItself) ?? work.pollMs)
      await sleep(next, undefined, { signal: ends }).catch(() => undefined)
    }
    await gate.enter(async () => undefined)
  }

  /** Runs a step of an operation when the gate is free. */
  function behindGate<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    return gate.enter(async () => {
      if (ends.aborted) throw notActive()
      doing = operation
      try {
        return await run()
      } finally {
        doing = undefined
        lookedAt = -Infinity
      }
    })
  }

  async function program(
    operation: Operation,
    run: (work: Work) => Promise<OperationResult>,
  ): Promise<OperationResult> {
    return behindGate(operation, async () => {
      mayInit = false
      const result = await run(work)
      fault = undefined
      standing = undefined
      return result
    })
  }

  async function commitOnce(deadline: number): Promise<OperationResult> {
    const commitment = await behindGate('commit', async () => {
      for (;;) {
        const made = await commit(await look())
        if (made.kind !== 'wait') return made
        if (performance.now() > deadline) throw made.why
        await work.pause(work.pollMs)
      }
    })
    if (commitment.kind !== 'built') return { kind: 'nothing-to-commit' }
    const { headerHash, transactions } = commitment.block
    return outcomeOf(headerHash, deadline, ({ state, commitTransaction }) => {
      if (state === 'built' || state === 'submitted') return undefined
      if (state === 'removed') return { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }
      const transactionId = toHex(commitTransaction.id)
      return { kind: 'committed', headerHash: toHex(headerHash), transactionId, transactions }
    })
  }

  async function mergeOnce(deadline: number): Promise<OperationResult> {
    const block = await behindGate('merge', async () => {
      const found = await look()
      const [leaving] = found.links.filter(({ kind }) => kind === 'merge')
      const [merging] = await mergeBlocks(work, found, 1)
      return merging ?? leaving?.block
    })
    if (block === undefined) return { kind: 'nothing-to-merge' }
    return outcomeOf(block.headerHash, deadline, ({ state, headerHash, mergeTransaction }) => {
      const transactionId = mergeTransaction ? toHex(mergeTransaction.id) : ''
      if (state === 'merged') return { kind: 'merged', headerHash: toHex(headerHash), transactionId }
      const given = state === 'removed' || memory.deadMerges.has(transactionId)
      return given ? { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' } : undefined
    })
  }

  /** Waits until the loop has noted what became of a block. */
  async function outcomeOf(
    headerHash: Uint8Array,
    deadline: number,
    judge: (block: Block) => OperationResult | undefined,
  ): Promise<OperationResult> {
    while (performance.now() < deadline) {
      const block = await work.store.blocks.byHash(headerHash)
      const result = block && equalBytes(block.headerHash, headerHash) ? judge(block) : undefined
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

  async function run(operation: Operation): Promise<OperationResult> {
    if (operation === 'init') {
      const existing = await findRoot(work)
      if (existing !== undefined) return existing
    }
    if (operation === 'commit' && committing) return { kind: 'busy', operation: 'commit' }
    const lock = await lockOperation(work.store, work.holder, operation, work.leaseMs)
    if (typeof lock === 'string') return { kind: 'busy', operation: lock }
    const result = expected(perform(operation)).finally(() => lock.release())
    const timer = new AbortController()
    // What goes on in the background keeps the lock until it ends.
    const late = sleep(work.operationTimeoutMs, timedOut, { signal: timer.signal }).catch(() => timedOut)
    return Promise.race([result, late]).finally(() => timer.abort())
  }

  return {
    get doing() {
      return doing
    },
    get fault() {
      return fault
    },
    get standing() {
      return standing
    },
    run: (operation) => expected(run(operation)),
    loop,
  }
}

/** Failures that are to be expected are results. */
async function expected(running: Promise<OperationResult>): Promise<OperationResult> {
  try {
    return await running
  } catch (error) {
    const result = resultOf(error)
    if (result === undefined) throw error
    return result
  }
}
