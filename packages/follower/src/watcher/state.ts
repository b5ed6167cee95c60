import { decodeHeader } from '@ratatosk/block'
import { BytesMap, BytesSet } from '@ratatosk/cbor'
import type { Outbox } from '@ratatosk/layer1'
import { patienceOf, unreadLine } from '@ratatosk/protocol'
import type { Job, Lack, Missing, OwnTransaction, WatcherContext } from './context.js'
import { openOutbox } from './send.js'
import type { DisputedBlock, WatcherOptions, WatcherStep } from './types.js'
import { createSummonsLine } from './unavailable.js'

/** All that a watcher knows beside its store. Times are of `performance.now()` unless they say otherwise. */
export interface WatcherState {
  /** The invalid block that it removes. */
  job: Job | undefined
  /** The blocks without a body, by header hash. */
  readonly missing: BytesMap<Missing>
  readonly line: ReturnType<typeof createSummonsLine>
  /** Ends the pause before the next tick. */
  wake: AbortController
  /** Whether the last read of layer 1 was for a summons: they take turns with the other work. */
  hasSummoned: boolean
  /** The first block of the queue that nothing removes, and the first whose body no peer serves. */
  unprovable: DisputedBlock | undefined
  unavailable: DisputedBlock | undefined
  /** Why another process watches. */
  waits: string | undefined
  lack: Lack | undefined
  /** The questions that it does not read, in a line. */
  unread: string | undefined
  /** When a block was found too late for the last time, in layer 1's POSIX milliseconds. */
  lateAt: bigint | undefined
  trouble: { readonly reason: string; readonly since: number } | undefined
  /** The last failure in this tick that has not ended it. */
  failure: unknown
  /** When a removal may be tried again. */
  retryAt: number
  /** When the balance is read next. */
  balanceAt: number
  isPruning: boolean
  /** The tip at which there is nothing to do, until then. */
  quiet: { readonly tip: string; readonly until: number }
  /** End of the confirmed state, in POSIX milliseconds. */
  confirmedUntil: bigint
  readonly counts: { asked: number; answered: number; unanswered: number }
}

export const openState = (): WatcherState => ({
  job: undefined,
  missing: new BytesMap(),
  line: createSummonsLine(),
  wake: new AbortController(),
  hasSummoned: false,
  unprovable: undefined,
  unavailable: undefined,
  waits: undefined,
  lack: undefined,
  unread: undefined,
  lateAt: undefined,
  trouble: undefined,
  failure: undefined,
  retryAt: 0,
  balanceAt: 0,
  isPruning: true,
  quiet: { tip: '', until: 0 },
  confirmedUntil: 0n,
  counts: { asked: 0, answered: 0, unanswered: 0 },
})

/** Polls between two attempts of which one has failed. */
const attemptPolls = 3
/** The longest lag of a provider's answers behind its tip: milliseconds, and share of the maturity window. */
const [maxLagMs, shareForLag] = [120_000, 30n]
/** Milliseconds of layer 1 after which a block that is too old to be asked for is a new trouble. */
const longestCalmMs = 600_000n
/** Polls after which a transaction is sent again, and how often in its validity at least. */
const [resendPolls, leastSendings] = [20, 20]

/** The means of the steps of a watcher; their reports change its state. */
export function openContext(
  options: WatcherOptions & { readonly pollMs: number },
  state: WatcherState,
  signal: AbortSignal,
): WatcherContext {
  const { contracts, layer1, log, observer, pollMs, validityMs = 300_000 } = options
  const { maturityWindow } = contracts.parameters
  const refusedMs = attemptPolls * pollMs
  const timesIn = (slotLength: number) => ({
    resendEverySlots: Math.ceil(Math.min(resendPolls * pollMs, validityMs / leastSendings) / slotLength),
    refusedSlots: Math.ceil(refusedMs / slotLength),
    lagSlots: Math.ceil(Math.min(maxLagMs, Number(maturityWindow / shareForLag)) / slotLength),
  })
  const step = (name: WatcherStep): void => {
    // The bond of a question has come back.
    if (name === 'answered' || name === 'removed') state.balanceAt = 0
    if (name === 'answered' || name === 'unanswered') state.counts[name]++
    observer?.step(name)
  }
  let outbox: Outbox<OwnTransaction> | undefined
  return {
    ...options,
    validityMs,
    patience: options.patienceMs === undefined ? patienceOf(maturityWindow) : BigInt(options.patienceMs),
    signal,
    sweeps: new BytesMap(),
    included: new BytesSet(),
    async outbox() {
      const { slotLength } = await layer1.slots({ signal })
      // Behind the wait: calls at once share one.
      outbox ??= openOutbox({ ...options, step }, timesIn(slotLength))
      return outbox
    },
    isUndecided: ({ header }) => decodeHeader(header).endTime > state.confirmedUntil,
    doesNotRead(outputs) {
      const line = unreadLine(outputs)
      if (line !== undefined && line !== state.unread) log.error({ code: 'SUMMONS_UNREAD' }, line)
      state.unread = line
    },
    asksTooLate(block, now) {
      const calm = maturityWindow < longestCalmMs ? maturityWindow : longestCalmMs
      if (state.lateAt === undefined || now > state.lateAt + calm)
        log.error(
          { code: 'WATCHER_TOO_LATE', ...block },
          "A block without a body is too old to be asked for. Check that its operator's archivist is up: " +
            'once a peer serves the body, the block is judged by it; until then, build on no later block. ' +
            'Those that follow are in GET /verdicts, and not logged',
        )
      state.lateAt = now
    },
    lacks(found) {
      const { lack } = state
      if (found === undefined) {
        if (lack !== undefined) log.info({ was: lack.reason }, 'The watcher can pay again')
      } else if (found.code !== lack?.code) {
        log.error({ code: found.code }, `The watcher cannot pay: ${found.reason}`)
      }
      state.lack = found
    },
    fails(error) {
      state.failure ??= error
    },
    retryLater() {
      state.retryAt = performance.now() + refusedMs
    },
    asked(count) {
      state.counts.asked += count
    },
    step,
  }
}
