export { costModelProblem } from './cost-models.js'
export { EvaluatorBusyError, EvaluatorClosedError } from './errors.js'
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
  ResolvedOutputs,
} from './types.js'
