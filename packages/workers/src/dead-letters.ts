import type { Failures } from '@ratatosk/ledger'
import type { Delivery } from '@ratatosk/queue'
import type { NewRejection, Store } from '@ratatosk/store'

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
