export { maxBlockBytes } from './blocks/fill-block.js'
export { overdueLine } from './commit-watch.js'
export { createSequencer } from './create-sequencer.js'
export { isSequencerError, SequencerError } from './errors.js'
export { operationUnderWay } from './operation-lock.js'
export type { CallsServer } from './remote/active-calls.js'
export {
  type CreateOperationsOptions,
  createOperations,
  type Operations,
} from './remote/create-operations.js'
export { openRemoteRoots, serveRoots } from './remote/remote-roots.js'
export { type ServeOperationsOptions, serveOperations } from './remote/serve-operations.js'
export {
  type CostSettings,
  commitDefaults,
  type DailyCost,
  estimateDailyCost,
} from './spending.js'
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
