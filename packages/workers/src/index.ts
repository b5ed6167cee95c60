export type { ValidationStats } from './activity.js'
export { type ReplayQueue, replayDeadLetter } from './dead-letters.js'
export {
  type Evaluation,
  type Evaluations,
  EvaluationsBusyError,
  type EvaluationsOptions,
  openEvaluations,
} from './evaluation.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation-worker.js'
