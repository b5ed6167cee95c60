import type { Broadcast, QueueBackend } from '@ratatosk/queue'
import type { Candidate } from './examine.js'

/** A copy of a transaction that has a delivery of its own. */
export interface Copy {
  readonly candidate: Candidate
  /** POSIX milliseconds; from then on another delivery may have made it a dead letter. */
  readonly until: number
}

interface Orphan extends Copy {
  readonly missing: readonly string[]
}

interface OrphanLimits {
  readonly count: number
  /** Sum of the CBOR lengths. */
  readonly bytes: number
}

/**
 * Copies of transactions whose inputs are unknown yet. When a batch produces the input, the copy is accepted
 * in the same batch, and its own delivery then finds it known. Losing a copy loses nothing.
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

  /** Until when a copy is kept, in POSIX milliseconds, by its id in hex. */
  until(key: string): number | undefined {
    return this.#orphans.get(key)?.until
  }

  /**
   * Keeps a copy until POSIX milliseconds `until`, dropping the oldest. Unverified ones replace no verified.
   */
  keep(candidate: Candidate, missing: readonly string[], until: number): void {
    const previous = this.#orphans.get(candidate.key)?.candidate
    const kept = previous?.verified && !candidate.verified ? previous : candidate
    this.drop(candidate.key)
    const orphan = { candidate: kept, missing, until }
    this.#orphans.set(kept.key, orphan)
    this.#bytes += kept.transaction.bytes.length
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

  /** @param key the transaction's id in hex */
  drop(key: string): void {
    const orphan = this.#orphans.get(key)
    if (orphan === undefined) return
    this.#orphans.delete(key)
    this.#bytes -= orphan.candidate.transaction.bytes.length
    for (const missing of orphan.missing) {
      const orphans = this.#byMissing.get(missing)
      orphans?.delete(orphan)
      if (orphans?.size === 0) this.#byMissing.delete(missing)
    }
  }

  /** The copies that name an output of `candidates` or of one another. They are kept until dropped. */
  following(candidates: readonly Candidate[], now: number): readonly Copy[] {
    if (this.#orphans.size === 0) return []
    const found = new Set<Copy>()
    const present = new Set(candidates.map(({ key }) => key))
    const worklist = [...candidates]
    for (const candidate of worklist) {
      for (const { key } of candidate.produced) {
        for (const orphan of this.#byMissing.get(key) ?? []) {
          if (orphan.until <= now) this.drop(orphan.candidate.key)
          else if (!present.has(orphan.candidate.key) && !found.has(orphan)) {
            found.add(orphan)
            worklist.push(orphan.candidate)
          }
        }
      }
    }
    return [...found]
  }
}

/** A copy of a transaction that waits in the queue, as it is sent to the other workers. */
export interface SharedOrphan {
  readonly cbor: Uint8Array
  /** POSIX milliseconds; from then on a delivery may have made it a dead letter. */
  readonly until: number
}

/** Sends copies to other workers: the missed output may come to them. A lost message costs an attempt. */
export interface OrphanExchange {
  share(orphan: SharedOrphan): void
}

/** An exchange that sends nothing until it has joined the channel. */
export function createOrphanExchange() {
  let channel: Broadcast | undefined
  return {
    share({ cbor, until }: SharedOrphan) {
      const { buffer, byteOffset, byteLength } = cbor
      channel?.send(`${Math.ceil(until)} ${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`)
    },
    async join(
      queue: Pick<QueueBackend, 'broadcast'>,
      receive: (orphan: SharedOrphan) => void,
    ): Promise<void> {
      channel = await queue.broadcast('orphans', (message) => {
        const [until = '', cbor = ''] = message.split(' ')
        receive({ cbor: new Uint8Array(Buffer.from(cbor, 'base64')), until: Number(until) })
      })
    },
  }
}
