export { maxBlockBytes } from './blocks/build-block.js'
export {
  type CostSettings,
  commitDefaults,
  type DailyCost,
  estimateDailyCost,
  overdueLine,
} from './commit-policy.js'
export { createSequencer } from './create-sequencer.js'
export { isSequencerError, SequencerError } from './errors.js'
export type { CallsServer } from './remote/active-calls.js'
export {
  type CreateOperationsOptions,
  createOperations,
  type Operations,
  type ServeOperationsOptions,
  serveOperations,
} from './remote/operations.js'
export { openRemoteRoots, serveRoots } from './remote/remote-roots.js'
export { operationUnderWay } from './run-operation.js'
export { answerKeys } from './summons/answer-wallet.js'
export { type Questions, type UnansweredQuestion, unansweredLine } from './summons/questions.js'
export type {
  AbsentAdministrator,
  Administrator,
  AdoptionMeans,
  AnswerMeans,
  BlockSnapshot,
  Sequencer,
  SequencerObserver,
  SequencerOptions,
  SequencerSnapshot,
  SequencerStore,
  Step,
  Submissions,
} from './types.js'
