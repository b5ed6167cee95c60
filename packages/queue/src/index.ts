export { QueueError, type QueueErrorCode } from './errors.js'
export { openQueueBackend } from './open-queue-backend.js'
export type { PGliteInstance } from './postgres/pglite-pool.js'
export {
  createSubmissionQueue,
  SUBMISSIONS,
  type Submission,
  type SubmissionQueue,
  submittedCbor,
} from './submission-queue.js'
export {
  createSubmissionWorker,
  type Disposition,
  type SubmissionDelivery,
  type SubmissionWorker,
  type SubmissionWorkerOptions,
} from './submission-worker.js'
export type {
  Broadcast,
  JobEvents,
  JobQueue,
  JobQueueOptions,
  JobWorker,
  JobWorkerOptions,
  QueueBackend,
  QueueBackendOptions,
  QueueWarning,
} from './types.js'
