import type { Reopened, Store } from '@ratatosk/store'
import type { ReplayQueue } from './dead-letters.js'

export interface ReopeningOptions {
  readonly store: { readonly rejections: Store['rejections']; readonly leases: Pick<Store['leases'], 'hold'> }
  readonly submissions: ReplayQueue
  /** Names this process among those that share the store. */
  readonly holder: string
}

const leaseMs = 10_000
/** The most pages of dead letters that one call submits again; further ones wait for the next call. */
const maxPages = 10

/**
 * Submits dead letters again whose inputs another transaction had spent, once that transaction has left the
 * ledger for good. One process at a time does it. A process that ends in between may submit some twice;
 * validation applies each once.
 *
 * @returns how many; 0 if another process is doing it
 * @throws (rejects) StoreError and QueueError, unchanged; what was submitted until then is noted
 * @example
 * const reopened = await reopenDeadLetters({ store, submissions, holder: 'host 1' })
 */
export async function reopenDeadLetters({ store, submissions, holder }: ReopeningOptions): Promise<number> {
  const { rejections, leases } = store
  if ((await rejections.reopenable()).length === 0) return 0
  const held = await leases.hold('reopen', holder, leaseMs)
  if (held === undefined) return 0
  try {
    let reopened = 0
    for (let page = 0; page < maxPages && !held.lost.aborted; page++) {
      const letters = await rejections.reopenable()
      if (letters.length === 0) break
      const added = await Promise.allSettled(letters.map(({ cbor }) => submissions.add(cbor)))
      const done = letters.flatMap(({ cbor: _, ...letter }, place): Reopened[] => {
        const result = added[place]
        return result?.status === 'fulfilled' ? [{ ...letter, submissionId: result.value }] : []
      })
      await rejections.reopened(done)
      reopened += done.length
      const failure = added.find(({ status }) => status === 'rejected')
      if (failure?.status === 'rejected') throw failure.reason
    }
    return reopened
  } finally {
    await held.release()
  }
}
