export type { ValidationStats } from './activity.js'
export {
  type ReopeningOptions,
  type ReplayQueue,
  reopenDeadLetters,
  replayDeadLetter,
} from './dead-letters.js'
export { type EvaluationsOptions, type LedgerEvaluation, openEvaluations } from './evaluation.js'
export type { Leaving } from './examine.js'
export { costOf } from './script-lane.js'
export { EvaluationsBusyError, openTurns, type TurnsOptions } from './turns.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation-worker.js'
