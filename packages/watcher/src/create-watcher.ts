import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import type { StateQueue } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import { conclude } from './conclude.js'
import type { Job, Lack, WatcherContext } from './context.js'
import { pruneBehindRemoved } from './prune.js'
import { readQueue } from './read-layer1.js'
import { advanceRemoval } from './remove.js'
import { follow, removalsOf } from './send.js'
import type { UnprovableBlock, Watcher, WatcherOptions } from './types.js'

/** What the datums of the longest proof lock, with collateral and fees, in lovelace. */
const leastLovelace = 350_000_000n
/** Milliseconds between two reads of the balance, while nothing is lacking. */
const balanceEveryMs = 60_000
/** Polls between two attempts that lack ada. */
const retryPolls = 10
/** Polls after which a transaction is sent again, and how often in its validity at least. */
const [resendPolls, sendings] = [20, 20]

/**
 * Removes the invalid blocks that a follower finds: records each finding, searches a fraud proof, and sends
 * the transactions that remove the block and slash its operator. Each is stored before it is sent, and looked
 * up before it is sent again. Prunes the blocks behind a removed one.
 *
 * @example
 * const watcher = createWatcher({
 *   contracts, rules, layer1, wallet, verdicts: store.verdicts, archive: store.archive, evaluator, log
 * })
 * const follower = await createFollower({ ...options, watch: watcher.watch })
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { layer1, wallet, verdicts, log, observer, pollMs = 1000, validityMs = 300_000 } = options
  const closing = new AbortController()
  const { signal } = closing
  let wake = new AbortController()
  let job: Job | undefined
  let unprovable: UnprovableBlock | undefined
  let lack: Lack | undefined
  let trouble: string | undefined
  let troubleAt = 0
  let retryAt = 0
  let balanceAt = 0
  let isPruning = true

  const delayMs = retryPolls * pollMs
  const context: WatcherContext = {
    ...options,
    pollMs,
    validityMs,
    resendMs: Math.min(resendPolls * pollMs, validityMs / sendings),
    signal,
    sentAt: new Map(),
    lacks(found) {
      if (found === undefined) {
        if (lack !== undefined) log.info({ was: lack.reason }, 'The watcher can pay again')
      } else if (found.code !== lack?.code) {
        log.error({ code: found.code }, `The watcher cannot pay: ${found.reason}`)
      }
      lack = found
    },
    step: (name) => observer?.step(name),
  }

  /** Reads the balance now and then, so that a lack is known before ada is needed. */
  async function checkBalance(): Promise<void> {
    if (performance.now() < balanceAt) return
    const { lovelace } = await wallet.balance({ signal })
    if (lovelace < leastLovelace) {
      const reason = `The wallet has less than ${leastLovelace} lovelace: send ada to ${wallet.address}`
      context.lacks({ code: 'WATCHER_LACKS_FUNDS', reason })
    } else if (job === undefined) context.lacks(undefined)
    balanceAt = performance.now() + (lack === undefined ? balanceEveryMs : delayMs)
  }

  /** Settles verdicts whose blocks are gone. What fails for one of them delays no other. */
  async function settle(gone: readonly VerdictRecord[], queue: StateQueue): Promise<void> {
    let failure: unknown
    for (const verdict of gone)
      await conclude(context, verdict, queue).catch((error: unknown) => {
        failure ??= error
      })
    if (failure !== undefined) throw failure
  }

  async function tick(): Promise<void> {
    // The tip first, so that everything else is at least as new.
    const { slot } = await layer1.tip({ signal })
    const queue = await readQueue(context)
    const shown = new Set(queue.blocks.map(({ headerHash }) => headerHash))
    const open = await verdicts.open()
    const isShown = ({ headerHash }: VerdictRecord) => shown.has(toHex(headerHash))
    const inQueue = open.filter(isShown)
    unprovable = inQueue.find(({ state }) => state === 'unprovable')
    const knownOf = ({ block }: Job) =>
      inQueue.find(({ headerHash }) => equalBytes(headerHash, block.headerHash))
    const current = job
    const before = lack
    if (performance.now() >= retryAt || current?.isRecorded === false) {
      if (current === undefined) await resume(inQueue, queue, slot)
      else await advanceRemoval(context, current, queue, knownOf(current), slot)
    }
    const gone = open.filter((verdict) => !isShown(verdict))
    await settle(gone, queue)
    await checkBalance()
    if (lack !== undefined && lack !== before) retryAt = performance.now() + delayMs
  }

  /** Goes on with what was recorded for blocks whose bodies no follower has yet, and prunes. */
  async function resume(inQueue: readonly VerdictRecord[], queue: StateQueue, slot: bigint): Promise<void> {
    for (const verdict of inQueue) await follow(context, removalsOf(verdict), slot)
    isPruning = await pruneBehindRemoved(context, queue, slot, isPruning)
  }

  /** Logs a new problem once. */
  function report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    // A search is expensive.
    if (!isLayer1Error(error)) retryAt = performance.now() + delayMs
    if (reason !== trouble) log.warn({ err: error }, `The watcher waits: ${reason}`)
    if (trouble === undefined) troubleAt = performance.now()
    trouble = reason
  }

  let ticking: Promise<void> = Promise.resolve()
  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = new AbortController()
      ticking = tick().then(
        () => {
          trouble = undefined
        },
        (error: unknown) => {
          if (!signal.aborted) report(error)
        },
      )
      await ticking
      await pause(pollMs, undefined, { signal: wake.signal }).catch(() => undefined)
    }
  }
  const running = run()

  return {
    async watch(block, ended) {
      const over = new AbortController()
      const given: Job = { block, signal: ended, isRecorded: false, failures: 0, giveUp: () => over.abort() }
      job = given
      wake.abort()
      const either = AbortSignal.any([ended, over.signal])
      if (!either.aborted) await once(either, 'abort')
      if (job === given) job = undefined
      await ticking
      return over.signal.aborted ? 'unprovable' : undefined
    },

    status: () => ({
      ...(unprovable && { unprovable: fieldsOf(unprovable) }),
      ...(lack && { lack: lack.reason }),
      ...(trouble !== undefined && { trouble, troubleMs: performance.now() - troubleAt }),
    }),

    close() {
      closing.abort(new Error('The watcher is closed'))
      wake.abort()
      return running
    },
  }
}

const fieldsOf = ({ headerHash, height, reason }: UnprovableBlock): UnprovableBlock => ({
  headerHash,
  height,
  reason,
})
