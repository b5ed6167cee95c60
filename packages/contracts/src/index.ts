export {
  decodeHeader,
  encodeHeader,
  genesisHeaderHash,
  type Header,
  headerHash,
} from './datum/header.js'
export {
  type OrderedQueue,
  orderQueue,
  type QueueBlock,
  type QueueOutput,
  type QueueRoot,
  type QueueSurvey,
  surveyQueue,
} from './datum/queue-order.js'
export {
  type ActiveOperator,
  decodeRegistryAction,
  decodeRegistryDatum,
  encodeRegistryAction,
  encodeRegistryDatum,
  endOfTurn,
  operatorInTurn,
  type RegistryAction,
  type RegistryDatum,
  type RetiredOperator,
  registryTokenName,
} from './datum/registry.js'
export {
  type BlockDatum,
  blockTokenName,
  type ConfirmedState,
  decodeBlockDatum,
  decodeQueueAction,
  decodeRootDatum,
  encodeBlockDatum,
  encodeQueueAction,
  encodeQueueSpend,
  encodeRefundDatum,
  encodeRootDatum,
  headerHashOfToken,
  type QueueAction,
  type RootDatum,
  rootTokenName,
  type SlashingApproach,
} from './datum/state-queue.js'
export { BrokenQueue, ContractsError, type ContractsErrorCode, MalformedData } from './errors.js'
export type { PlutusScript } from './script/apply.js'
export {
  operatorRegistryScript,
  type QueueParameters,
  type RegistryParameters,
  scriptAddress,
  stateQueueScript,
} from './script/scripts.js'
