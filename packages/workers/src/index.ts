export { type ReplayQueue, replayDeadLetter } from './dead-letters/replay.js'
export type { Log, ValidationStats } from './validation/activity.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation/validation-worker.js'
