import { isLayer1Error } from '@ratatosk/layer1'
import { StoreError } from '@ratatosk/store'
import type { Gate } from './gate.js'
import { mergeBlocks } from './life/merge-blocks.js'
import { lockOperation } from './operation-lock.js'
import { initialise } from './programs/init.js'
import { refusalOf } from './refusal.js'
import type { Watch } from './watch.js'

const longestBackoffMs = 15_000
/** Layer 1 is not rolled back further: blocks that were merged before stay merged. */
const settledMs = 36 * 3_600_000
const tidyEveryMs = 600_000

export interface ByItself {
  /** Does what is due, and rejects never. @returns milliseconds until it is due again; undefined: the lease is lost */
  tick(): Promise<number | undefined>
  /** No queue is begun by itself any more. */
  initNoMore(): void
}

/** What a sequencer does without being asked: looks, merges, commits, and at its start begins a queue where it may. */
export function createByItself(watch: Watch, gate: Pick<Gate, 'yields'>): ByItself {
  const { work } = watch
  const { log, store } = work
  let mayInit = work.autoInit
  let lookedAt = -Infinity
  let committedAt = -Infinity
  let mergedAt = -Infinity
  let tidiedAt = -Infinity
  let failures = 0
  let complaint = ''

  /** Nothing is on its way and nothing is to be committed: a look now and then finds roll-backs and mature blocks. */
  async function isQuiet(now: number): Promise<boolean> {
    const { standing, fault } = watch
    if (fault !== undefined || standing === undefined || standing.links.length > 0) return false
    if (now - lookedAt >= work.mergeEveryMs) return false
    if (!work.autoCommit || now - committedAt < work.commitEveryMs) return true
    return (await store.blocks.waiting(1)) === 0
  }

  async function merge(now: number): Promise<boolean> {
    if (!work.autoMerge || now - mergedAt < work.mergeEveryMs || gate.yields) return false
    watch.doing = 'merge'
    const found = watch.standing ?? (await watch.look())
    const merging = await mergeBlocks(work, found, work.maxUnconfirmed)
    // Where more are mature than may be on their way, the next follow as soon as these are included.
    const leaving = found.links.filter(({ kind }) => kind === 'merge').length + merging.length
    if (leaving < work.maxUnconfirmed) mergedAt = now
    return merging.length > 0
  }

  /** @returns whether there is more to commit at once */
  async function commit(now: number): Promise<boolean> {
    if (!work.autoCommit || now - committedAt < work.commitEveryMs || gate.yields) return false
    const found = watch.standing ?? (await watch.look())
    watch.doing = 'commit'
    const commitment = await watch.commit(found)
    if (commitment.kind !== 'built') return false
    const full = commitment.block.transactions === work.maxBlockTransactions
    if (!full) committedAt = now
    return full
  }

  async function tidy(now: number): Promise<void> {
    if (now - tidiedAt < tidyEveryMs) return
    tidiedAt = now
    await store.blocks.forgetSpent(new Date(Date.now() - settledMs), work.lease)
  }

  async function workOnce(): Promise<number> {
    const now = performance.now()
    if (await isQuiet(now)) return work.pollMs
    watch.doing = 'reconcile'
    await watch.look()
    lookedAt = now
    mayInit = false
    if (await merge(now)) await watch.look()
    const more = await commit(now)
    await tidy(now)
    return more ? 0 : work.pollMs
  }

  async function initAtStart(): Promise<void> {
    mayInit = (await store.blocks.newest()) === undefined
    if (!mayInit) return
    watch.doing = 'init'
    const lock = await lockOperation(store, work.holder, 'init', work.leaseMs)
    // Of a sequencer that was killed, for one: it ends.
    if (typeof lock === 'string') return
    try {
      await initialise(work)
      mayInit = false
    } finally {
      await lock.release()
    }
  }

  async function workOrInit(): Promise<number> {
    try {
      return await workOnce()
    } catch (error) {
      if (!mayInit || refusalOf(error)?.code !== 'not-initialised') throw error
    }
    await initAtStart()
    return work.pollMs
  }

  function complain(error: unknown): number | undefined {
    failures++
    const refusal = refusalOf(error)
    if (refusal?.code === 'not-active') return undefined
    if (refusal !== undefined) watch.fault = refusal
    const said = error instanceof Error ? error.message : String(error)
    // Once for each failure, not for each attempt.
    if (said !== complaint) {
      if (refusal !== undefined) log.warn({ code: refusal.code }, refusal.message)
      else if (isLayer1Error(error)) log.warn({ cause: error.kind, reason: error.reason }, `layer 1: ${said}`)
      else if (error instanceof StoreError && error.retryable)
        log.warn({ code: error.code }, `store: ${said}`)
      else log.error({ err: error }, 'a step of the sequencer failed; it is tried again')
    }
    complaint = said
    return Math.min(work.pollMs * 2 ** Math.min(failures, 10), longestBackoffMs)
  }

  return {
    async tick() {
      try {
        const next = await workOrInit()
        failures = 0
        complaint = ''
        return next
      } catch (error) {
        return complain(error)
      } finally {
        watch.doing = undefined
      }
    },
    initNoMore() {
      mayInit = false
    },
  }
}
