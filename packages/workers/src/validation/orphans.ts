import type { Candidate } from './submission.js'

interface Orphan {
  readonly candidate: Candidate
  readonly missing: readonly string[]
  /** POSIX milliseconds. */
  readonly until: number
}

export interface OrphanLimits {
  readonly count: number
  /** Of the transactions' CBOR. */
  readonly bytes: number
}

/**
 * Transactions that wait in the queue for their next delivery because an output that they name is unknown. Copies are
 * kept for that time, so that they can follow at once when a batch brings what they miss; their own delivery then finds
 * them accepted. Losing a copy loses nothing.
 */
export class Orphans {
  readonly #limits: OrphanLimits
  readonly #orphans = new Map<string, Orphan>()
  readonly #byMissing = new Map<string, Set<Orphan>>()
  #bytes = 0

  constructor(limits: OrphanLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#orphans.size
  }

  /** @param until POSIX milliseconds: from then on another delivery may decide otherwise */
  keep(candidate: Candidate, missing: readonly string[], until: number): void {
    this.drop(candidate.key)
    const orphan = { candidate, missing, until }
    this.#orphans.set(candidate.key, orphan)
    this.#bytes += candidate.submission.cbor.length
    for (const key of missing) {
      const orphans = this.#byMissing.get(key)
      if (orphans === undefined) this.#byMissing.set(key, new Set([orphan]))
      else orphans.add(orphan)
    }
    for (const oldest of this.#orphans.keys()) {
      if (this.#orphans.size <= this.#limits.count && this.#bytes <= this.#limits.bytes) break
      this.drop(oldest)
    }
  }

  drop(key: string): void {
    const orphan = this.#orphans.get(key)
    if (orphan === undefined) return
    this.#orphans.delete(key)
    this.#bytes -= orphan.candidate.submission.cbor.length
    for (const missing of orphan.missing) {
      const orphans = this.#byMissing.get(missing)
      orphans?.delete(orphan)
      if (orphans?.size === 0) this.#byMissing.delete(missing)
    }
  }

  /** Those that could follow `candidates`, and those that could follow these, and so on; they stay until dropped. */
  following(candidates: readonly Candidate[], now: number): readonly Candidate[] {
    if (this.#orphans.size === 0) return []
    const found = new Set<Candidate>()
    const present = new Set(candidates.map(({ key }) => key))
    const turn = [...candidates]
    for (const candidate of turn) {
      for (const produced of candidate.producedKeys) {
        for (const orphan of this.#byMissing.get(produced) ?? []) {
          if (orphan.until <= now) this.drop(orphan.candidate.key)
          else if (!present.has(orphan.candidate.key) && !found.has(orphan.candidate)) {
            found.add(orphan.candidate)
            turn.push(orphan.candidate)
          }
        }
      }
    }
    return [...found]
  }
}
