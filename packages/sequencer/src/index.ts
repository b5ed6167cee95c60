export { maxBlockBytes } from './blocks/prepare-block.js'
export { createSequencer } from './create-sequencer.js'
export { isSequencerError, SequencerError } from './errors.js'
export { operationUnderWay } from './operation-lock.js'
export { createOperations } from './remote/create-operations.js'
export { serveOperations } from './remote/serve-operations.js'
export type {
  CreateOperationsOptions,
  Operations,
  OperationsServer,
  ServeOperationsOptions,
} from './remote/types.js'
export {
  type CostSettings,
  commitDefaults,
  type DailyCost,
  estimateDailyCost,
} from './spending.js'
export type {
  AbsentAdministrator,
  Administrator,
  BlockSnapshot,
  Sequencer,
  SequencerObserver,
  SequencerOptions,
  SequencerSnapshot,
  SequencerStore,
  Step,
  Submissions,
} from './types.js'
