import type { InvalidBlock } from '@ratatosk/follower'
import type { AccusedBlock, FraudRemoval } from '@ratatosk/fraud'
import type { WatcherOptions, WatcherStep } from './types.js'

/** Codes of log lines that need an operator; `docs/errors.md` explains them. */
type WatcherCode = 'WATCHER_UNPROVABLE' | 'WATCHER_MERGED' | 'WATCHER_LACKS_FUNDS' | 'WATCHER_BUDGET_SPENT'

/** Why the wallet does not pay. */
export interface Lack {
  readonly code: WatcherCode
  readonly reason: string
}

/** What everything in a watcher shares. */
export interface WatcherContext extends Omit<WatcherOptions, 'pollMs' | 'validityMs' | 'observer'> {
  readonly pollMs: number
  readonly validityMs: number
  /** Milliseconds after which a transaction is sent again that layer 1 does not know. */
  readonly resendMs: number
  /** Aborts when the watcher closes. */
  readonly signal: AbortSignal
  /** When transactions were sent last, by id, in milliseconds of a monotonic clock. */
  readonly sentAt: Map<string, number>
  /** Reports why the wallet cannot pay, once; undefined: it can. */
  lacks(lack: Lack | undefined): void
  step(name: WatcherStep): void
}

/** An invalid block that a follower has found. */
export interface Job {
  readonly block: InvalidBlock
  /** Aborts when the block is gone, or the follower closes. */
  readonly signal: AbortSignal
  /** Whether the verdict was recorded for this finding. */
  isRecorded: boolean
  /** Returns the block to the follower: no proof removes it. */
  giveUp(): void
  accused?: AccusedBlock
  /** Attempts that found no proof, or one that was refused. */
  failures: number
  /** The result of the last search. */
  searched?: { readonly key: string; readonly removal: FraudRemoval } | undefined
}
