export {
  administratorAddress,
  type Contract,
  type ContractName,
  type ContractParameters,
  type Contracts,
  inOrder,
  openContracts,
  publishScripts,
  referenceScriptsOf,
  scriptsToPublish,
} from './contracts.js'
export { isProtocolError, ProtocolError, type ProtocolErrorCode } from './errors.js'
export {
  burnElements,
  type Commit,
  commitBlock,
  dustOf,
  initQueue,
  initRollup,
  type Merge,
  maxBurnedElements,
  mergeBlock,
} from './queue-drafts.js'
export {
  initRegistry,
  type RegistryElement,
  readRegistry,
  registerOperator,
  releaseBond,
  retireOperator,
  type Validity,
} from './registry-drafts.js'
export {
  maxPrunedBlocks,
  pruneBlocks,
  type RemovalByVerdict,
  removeBlock,
  removeInvalidBlock,
  soundBlocks,
  staleBlocks,
  type Verdict,
} from './removal-drafts.js'
export { firstSlotFrom } from './slots.js'
export {
  allElements,
  type BlockElement,
  type RootElement,
  readStateQueue,
  type StateQueue,
  soundRoot,
} from './state-queue.js'
