import type { DeadLetter, DeadLetters } from '@ratatosk/operator/dead-letters'
import type { SubmissionQueue } from '@ratatosk/queue'
import type { RejectionSummary, Store } from '@ratatosk/store'
import { replayDeadLetter } from '@ratatosk/workers'

/** The store's dead letters, which are replayed through the queue. */
export function deadLettersOf(
  store: Pick<Store, 'rejections'>,
  submissions: Pick<SubmissionQueue, 'add'>,
): DeadLetters {
  const { rejections } = store
  return {
    list: async (page) =>
      (await rejections.list(page)).map((rejection) => ({
        ...letterOf(rejection),
        sequence: rejection.sequence,
      })),
    async find(submissionId) {
      const rejection = await rejections.find(submissionId)
      return rejection && { ...letterOf(rejection), ...(rejection.cbor && { cbor: rejection.cbor }) }
    },
    async replay(submissionId) {
      const id = await replayDeadLetter(submissionId, { store, submissions })
      if (id !== undefined) return { id }
      return (await rejections.find(submissionId)) === undefined ? 'not-found' : 'dropped'
    },
    drop: (submissionId) => rejections.remove(submissionId),
  }
}

function letterOf(rejection: RejectionSummary): DeadLetter {
  const { submissionId, digest, transactionId, code, message, details, attempts, count } = rejection
  const { submittedAt, rejectedAt, replayed } = rejection
  return {
    digest,
    submissionId,
    ...(transactionId && { transactionId }),
    code,
    message,
    details,
    attempts,
    count,
    submittedAt,
    rejectedAt,
    ...(replayed && { replayedAs: replayed.submissionId }),
  }
}
