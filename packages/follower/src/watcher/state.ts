import { BytesMap } from '@ratatosk/cbor'
import type { Job, Lack, Missing } from './context.js'
import { createSummonsLine } from './summon.js'
import type { DisputedBlock } from './types.js'

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
