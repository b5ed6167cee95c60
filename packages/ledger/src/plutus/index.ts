export { EvaluatorError, type EvaluatorErrorCode, isEvaluatorError } from '../errors.js'
export { costModelProblem } from '../parameters/parse.js'
export type {
  EvaluationFailure,
  EvaluationResult,
  Evaluator,
  EvaluatorOptions,
  ExecutionUnits,
  RedeemerOutcome,
  RedeemerPointer,
  RedeemerResult,
} from '../rules/script-evaluator.js'
export { createCekEngine } from './cek-engine.js'
export { createEvaluator } from './evaluator.js'
