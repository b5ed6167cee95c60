import type { Failures } from '@ratatosk/ledger'
import type { Delivery } from '@ratatosk/queue'
import type { NewRejection, Reopened, Store } from '@ratatosk/store'

/** The part of `createSubmissionQueue` that a replay needs. */
export interface ReplayQueue {
  /** @returns the id of the new submission */
  add(cbor: Uint8Array): Promise<string>
}

/**
 * Submits the bytes of a dead letter again and notes the new submission in it. The dead letter stays: if the
 * bytes are rejected again, it has the newest reason.
 *
 * @param submissionId the submission that became the dead letter
 * @returns the id of the new submission; `undefined` if there is no such dead letter, or if its CBOR is no
 *   longer kept
 * @throws (rejects) StoreError and QueueError, unchanged
 * @example
 * const id = await replayDeadLetter('Fk3x…-2a', { store, submissions })
 */
export async function replayDeadLetter(
  submissionId: string,
  { store, submissions }: { readonly store: Pick<Store, 'rejections'>; readonly submissions: ReplayQueue },
): Promise<string | undefined> {
  const rejection = await store.rejections.find(submissionId)
  if (rejection?.cbor === undefined) return undefined
  const id = await submissions.add(rejection.cbor)
  await store.rejections.markReplayed(submissionId, id)
  return id
}

/** A dead letter with the code of the first failure and all `details`. */
export function deadLetterOf(
  delivery: Delivery,
  transactionId: Uint8Array | undefined,
  failures: Failures,
): NewRejection {
  const [first] = failures
  return {
    submissionId: delivery.id,
    ...(transactionId === undefined ? {} : { transactionId }),
    cbor: delivery.cbor,
    attempts: delivery.attempt,
    code: first?.predicate ?? 'Unknown',
    message: first?.message ?? 'No reason was given',
    details: failures.map(({ predicate, message, details }) => ({ predicate, message, details })),
    submittedAt: delivery.submittedAt,
  }
}

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
