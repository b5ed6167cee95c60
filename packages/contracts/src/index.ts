export {
  type BridgeDatum,
  type BridgeSpend,
  type DepositDatum,
  decodeBridgeDatum,
  depositId,
  depositOutput,
  encodeBridgeDatum,
  encodeBridgeSpend,
  encodeEventAction,
  encodeSettle,
  type Layer1Datum,
  type SettlementDatum,
} from './datum/bridge.js'
export {
  countingOperators,
  decodeRegistryAction,
  decodeRegistryDatum,
  effectiveTime,
  encodeRegistryAction,
  encodeRegistryDatum,
  endOfTurn,
  operatorInTurn,
  type RegisteredOperator,
  type RegistryAction,
  type RegistryDatum,
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
  type RemovalApproach,
  type RootDatum,
  rootTokenName,
  type SlashingApproach,
} from './datum/state-queue.js'
export { decodeQuestion, encodeQuestion, type SummonsQuestion } from './datum/summons.js'
export {
  type QueueBlock,
  type QueueOutput,
  type QueueRoot,
  type QueueSurvey,
  surveyQueue,
} from './datum/survey-queue.js'
export { ContractsError, type ContractsErrorCode, isContractsError } from './errors.js'
export { type Form, type ItemType, itemTypes } from './fraud/item-types.js'
export {
  allowedFields,
  ChunkFlaw,
  LedgerFraud,
  LedgerPart,
  provableVersion,
  TransactionFraud,
  WitnessFraud,
  WitnessNeed,
} from './fraud/layout.js'
export type { ProvableRules } from './fraud/rules.js'
export {
  ledgerFraudScript,
  transactionFraudScript,
  witnessFraudScript,
} from './fraud/scripts.js'
export { fraudScript, type VerdictPolicyName, verdictPolicies } from './fraud/verdict-policies.js'
export { depositLimits, leastMerged, settlementAda } from './layout.js'
export type { PlutusScript } from './script/apply.js'
export {
  type BridgeParameters,
  bridgeScript,
  type EventsParameters,
  eventsScript,
  isRenounced,
  layer1LedgerVersion,
  operatorRegistryScript,
  type QueueParameters,
  type RegistryParameters,
  renouncedAdministrator,
  stateQueueScript,
} from './script/scripts.js'
export { type SummonsParameters, summonsScript } from './summons/script.js'
export { ChunkOpening, NodeOpening, SummonsAction } from './summons-layout.js'
