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
 * Copies of transactions that wait in the queue for their next delivery because an output that they name is
 * unknown. When a batch produces the output, the copy is accepted in the same batch, and its own delivery
 * then finds it known. Losing a copy loses nothing.
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

  /**
   * Until when a copy of the transaction is kept, in POSIX milliseconds. @param key the transaction's id in
   * hex
   */
  until(key: string): number | undefined {
    return this.#orphans.get(key)?.until
  }

  /**
   * Keeps a copy, and drops the oldest ones where the limits are exceeded. Without verified signatures it
   * does not replace a copy that has them.
   *
   * @param missing by `outputReferenceKey`
   * @param until POSIX milliseconds; from then on another delivery may have made it a dead letter
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

  /**
   * The copies that name an output of `candidates`, those that name an output of these copies, and so on.
   * They are kept until dropped.
   *
   * @param now POSIX milliseconds
   */
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

/**
 * Sends copies to the other workers on the queue: each delivery goes to one worker, and the output that it
 * misses may come to another. A message that is lost costs an attempt, not the transaction.
 */
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
