import { type SubmissionQueue, transactionOfSubmission } from '@ratatosk/queue'
import type { QueuedSubmissions, StatusSources } from '@ratatosk/submit/status'
import type { Node } from '../node.js'
import { maturityOf } from './state-queue.js'

/** Finds submissions in the queue, and the transaction of those that have left it. */
export function queuedSubmissionsOf(
  submissions: Pick<SubmissionQueue, 'find' | 'findTransaction'>,
): QueuedSubmissions {
  return {
    findTransaction: (transactionId) => submissions.findTransaction(transactionId),
    async find(submissionId) {
      const found = await submissions.find(submissionId)
      if (found === undefined) return undefined
      const transactionId = transactionOfSubmission(submissionId)
      const named = transactionId && { transactionId }
      if (found === 'gone') return { state: 'left', ...named }
      const { state, submittedAt, attempts } = found
      return { state, submittedAt, attempts, ...named }
    },
  }
}

/** The sources of `/tx/status`, `/submission` and the search of submissions. */
export function statusSources({
  store,
  submissions,
  settlement,
}: Pick<Node, 'store' | 'submissions' | 'settlement'>): StatusSources {
  return {
    ...maturityOf(settlement),
    ledger: store,
    rejections: store.rejections,
    queue: queuedSubmissionsOf(submissions),
    removals: store.resubmissions,
  }
}
