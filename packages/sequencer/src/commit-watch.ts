import { BytesMap } from '@ratatosk/cbor'
import type { Log } from '@ratatosk/ports'

interface WatchOptions {
  /** How long layer 1 may take to include a commit, in milliseconds. */
  readonly blockValidityMs: number
  readonly log: Log
  /** Milliseconds by a clock that never goes back. */
  readonly now: () => number
}

/** An unconfirmed transaction of the operator. */
interface Pending {
  readonly id: Uint8Array
  readonly kind: 'commit' | 'merge'
}

/** Notices that layer 1 includes no commit: one stays unconfirmed beyond its validity, or expires. */
export class CommitWatch {
  readonly #options: WatchOptions
  /** When each unconfirmed commit was first seen, by its id. */
  #seen = new BytesMap<number>()
  /** When the first of the commits was seen that expired since the last inclusion. */
  #missedSince: number | undefined
  /** When a commit was last unconfirmed. */
  #pendingAt = Number.NEGATIVE_INFINITY
  #reported = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Milliseconds for which layer 1 has not included a waiting commit; undefined while it is in time. */
  get overdueMs(): number | undefined {
    const { now, blockValidityMs } = this.#options
    if (now() - this.#pendingAt > blockValidityMs) return undefined
    const since = Math.min(this.#missedSince ?? Number.POSITIVE_INFINITY, ...this.#seen.values())
    const ms = now() - since
    return ms > blockValidityMs ? ms : undefined
  }

  /** Whether commits have expired, and none was included since. */
  get hasMissed(): boolean {
    return this.#missedSince !== undefined
  }

  /** Takes note of what is unconfirmed. Logs once that layer 1 is late. */
  see(pending: readonly Pending[]): void {
    const { log, now } = this.#options
    const commits = pending.filter(({ kind }) => kind === 'commit')
    if (commits.length > 0) this.#pendingAt = now()
    this.#seen = new BytesMap(commits.map(({ id }) => [id, this.#seen.get(id) ?? now()]))
    const { overdueMs } = this
    if (overdueMs !== undefined && !this.#reported) log.warn({}, overdueLine(overdueMs))
    this.#reported = overdueMs !== undefined || (this.#reported && this.hasMissed)
  }

  /** A commit can no longer be included. */
  missed(id: Uint8Array): void {
    this.#pendingAt = this.#options.now()
    this.#missedSince ??= this.#seen.get(id) ?? this.#pendingAt
  }

  /** Layer 1 has included a commit, or nothing is left to commit. */
  arrived(): void {
    this.#missedSince = undefined
  }
}

/** The log line while layer 1 includes no commit. @param ms for how long */
export function overdueLine(ms: number): string {
  return (
    `Layer 1 has included no commit for ${Math.round(ms / 1000)} s, longer than one is valid: check the ` +
    "operator's wallet, layer 1's node and both clocks"
  )
}
