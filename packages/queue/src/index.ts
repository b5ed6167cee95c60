export { openQueueBackend } from './backend/open-queue-backend.js'
export type { PGliteInstance, StatementResult, Statements } from './backend/pglite-pool.js'
export { isQueueError, QueueError, type QueueErrorCode, type QueueErrorOptions } from './errors.js'
export { type QueuedTransaction, type QueuedTransactions, queuedCbor } from './submissions/job.js'
export {
  createSubmissionQueue,
  type FoundSubmission,
  type QueuedSubmission,
  type SubmissionQueue,
  type SubmissionQueueOptions,
  submissionQueueName,
  type WaitingSubmissions,
} from './submissions/submission-queue.js'
export {
  createSubmissionWorker,
  type Delivery,
  type DeliverySlot,
  type Disposition,
  defaultLockMs,
  type SubmissionWorker,
  type SubmissionWorkerOptions,
} from './submissions/submission-worker.js'
export type {
  Broadcast,
  CommonOptions,
  JobEvents,
  JobQueue,
  JobQueueOptions,
  JobWorker,
  JobWorkerOptions,
  QueueBackend,
  QueueBackendOptions,
  QueueWarning,
} from './types.js'
