import type { Verdict } from '@ratatosk/ledger'
import type { NewRejection } from '@ratatosk/store'
import type { Submission } from '../validation/submission.js'

/** A submission that validation has given up on, as the store keeps it: all failures, named after the first. */
export function rejectionOf(
  submission: Submission,
  transactionId: Uint8Array | undefined,
  failures: Verdict,
): NewRejection {
  const [first] = failures
  return {
    submissionId: submission.id,
    ...(transactionId === undefined ? {} : { transactionId }),
    cbor: submission.cbor,
    attempts: submission.attempt,
    code: first?.predicate ?? 'Unknown',
    message: first?.message ?? 'No reason was given',
    details: failures.map(({ predicate, message, details }) => ({ predicate, message, details })),
    submittedAt: submission.submittedAt,
  }
}
