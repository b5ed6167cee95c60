export type { ValidationStats } from './activity.js'
export { type ReplayQueue, replayDeadLetter } from './dead-letters.js'
export {
  EvaluationsBusyError,
  type EvaluationsOptions,
  type LedgerEvaluation,
  openEvaluations,
} from './evaluation.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation-worker.js'
