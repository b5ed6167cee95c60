export { EvaluatorError, type EvaluatorErrorCode, isEvaluatorError } from '../errors.js'
export { costModelProblem } from './cost-models.js'
export { createEvaluator } from './evaluator.js'
export type {
  EvaluationFailure,
  EvaluationResult,
  Evaluator,
  EvaluatorOptions,
  ExecutionUnits,
  RedeemerOutcome,
  RedeemerPointer,
  RedeemerResult,
} from './types.js'
