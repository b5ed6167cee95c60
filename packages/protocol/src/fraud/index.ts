export { type Accusation, type AccusedBlock, accuse, type EventMaps } from './accused-block.js'
export { FraudError, type FraudErrorCode, isFraudError } from './errors.js'
export { findFraud, fraudSearches, type ProvenFraud } from './find-fraud.js'
export { findLedgerFraud } from './find-ledger-fraud.js'
export { findTransactionFraud } from './find-transaction-fraud.js'
export { findWitnessFraud } from './find-witness-fraud.js'
export {
  type ChunkFlawProof,
  type ChunkOpening,
  encodeLedgerFraudProof,
  encodeResolution,
  type LedgerFraudProof,
  openChunk,
  proofParts,
  type Resolution,
  type ResolvedOpening,
  resolutionName,
  resolutionsOf,
  type ShownChunk,
} from './ledger-proofs.js'
export {
  type Absent,
  type OutputOpening,
  openEvent,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  outsource,
  type RecordOpening,
  roomBesideRemoval,
  type SuppliedBytes,
  type TransactionOpening,
  type UnspentOpening,
} from './openings.js'
export {
  type FraudRemoval,
  type RemovalByFraud,
  type RemovalContext,
  type RemovalStage,
  removeFraudulentBlock,
} from './remove-fraudulent-block.js'
export { type AssetPlace, movedParts } from './shapes.js'
export type { FoundFraud, ProofPart } from './smallest-proof.js'
export {
  accuseShown,
  claimOutput,
  createShownMap,
  type DerivedMap,
  deriveMap,
  type ShownFrauds,
  type ShownMap,
  shownFrauds,
} from './summons/accuse-shown.js'
export { type AnsweringMap, answerAboutNode } from './summons/answer.js'
export {
  answerIn,
  type ChunkAnswer,
  chunkAnswerFromData,
  chunkCountOf,
  encodeAsk,
  encodeChunkAnswer,
  encodeExpiry,
  encodeNodeAnswer,
  encodeReclaim,
  type NodeAnswer,
  nodeAnswerFromData,
  nodeKey,
  nodeOfKey,
  type ShownChunkAnswer,
  type ShownNode,
  transactionsInChunk,
} from './summons/redeemers.js'
export { type Difference, type NextQuestion, nextQuestions, type SearchResult } from './summons/search.js'
export {
  type Asset,
  encodeTransactionFraudProof,
  type OutputPlace,
  type PartOpening,
  type ResolvedOutputs,
  type TransactionFraudProof,
  type WitnessSetOpening,
} from './transaction-proofs.js'
export {
  encodeWitnessFraudProof,
  type ScriptNeed,
  type SignatureNeed,
  type SpentOpening,
  type TransactionWithWitnesses,
  type WitnessFraudProof,
} from './witness-proofs.js'
