export {
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
export {
  type QueueBlock,
  type QueueOutput,
  type QueueRoot,
  type QueueSurvey,
  surveyQueue,
} from './datum/survey-queue.js'
export { ContractsError, type ContractsErrorCode, isContractsError } from './errors.js'
export {
  type FraudSearch,
  findFraud,
  fraudScript,
  type ProvenFraud,
  type VerdictPolicyName,
  verdictPolicies,
} from './fraud/find-fraud.js'
export { findLedgerFraud } from './fraud/find-ledger-fraud.js'
export { findTransactionFraud } from './fraud/find-transaction-fraud.js'
export { findWitnessFraud } from './fraud/find-witness-fraud.js'
export { LedgerFraud, provableVersion, TransactionFraud, WitnessFraud } from './fraud/layout.js'
export { encodeLedgerFraudProof, type LedgerFraudProof } from './fraud/ledger-proofs.js'
export {
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type ProvableBlock,
  type SuspectBlock,
} from './fraud/open-block.js'
export type {
  Absent,
  OutputOpening,
  RecordOpening,
  Supplied,
  TransactionOpening,
  UnspentOpening,
} from './fraud/openings.js'
export type { ProvableRules } from './fraud/rules.js'
export { ledgerFraudScript, transactionFraudScript, witnessFraudScript } from './fraud/scripts.js'
export type { FoundFraud } from './fraud/smallest-proof.js'
export {
  type Asset,
  encodeTransactionFraudProof,
  type OutputPlace,
  type ResolvedOutputs,
  type TransactionFraudProof,
} from './fraud/transaction-proofs.js'
export {
  encodeWitnessFraudProof,
  type ScriptNeed,
  type SignatureNeed,
  type SpentOpening,
  type WitnessFraudProof,
} from './fraud/witness-proofs.js'
export type { PlutusScript } from './script/apply.js'
export {
  isRenounced,
  operatorRegistryScript,
  type QueueParameters,
  type RegistryParameters,
  renouncedAdministrator,
  stateQueueScript,
} from './script/scripts.js'
