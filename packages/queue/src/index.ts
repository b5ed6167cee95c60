export { openQueueBackend } from './backend/open-queue-backend.js'
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
  PGliteInstance,
  QueueBackend,
  QueueBackendOptions,
  QueueWarning,
  StatementResult,
  Statements,
} from './types.js'
