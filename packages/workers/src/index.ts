export type { ValidationStats } from './activity.js'
export { type ReplayQueue, replayDeadLetter } from './dead-letters.js'
export { type EvaluationsOptions, type LedgerEvaluation, openEvaluations } from './evaluation.js'
export type { Leaving } from './examine.js'
export { type ReopeningOptions, reopenDeadLetters } from './reopen-dead-letters.js'
export { costOf } from './script-runs.js'
export { EvaluationsBusyError, openTurns, type TurnsOptions } from './turns.js'
export {
  createValidationWorker,
  type ValidationWorker,
  type ValidationWorkerOptions,
} from './validation-worker.js'
