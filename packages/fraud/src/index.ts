export { type Accusation, type AccusedBlock, accuse, type EventMaps } from './accused-block.js'
export {
  type ChunkFlawProof,
  type ChunkOpening,
  openChunk,
  type ShownChunk,
} from './chunk-proofs.js'
export { FraudError, type FraudErrorCode, isFraudError } from './errors.js'
export { findFraud, fraudSearches, type ProvenFraud } from './find-fraud.js'
export { findLedgerFraud } from './find-ledger-fraud.js'
export { findTransactionFraud } from './find-transaction-fraud.js'
export { findWitnessFraud } from './find-witness-fraud.js'
export {
  encodeLedgerFraudProof,
  type LedgerFraudProof,
  proofParts,
} from './ledger-proofs.js'
export {
  type Absent,
  type OutputOpening,
  openEvent,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type RecordOpening,
  type SuppliedBytes,
  type TransactionOpening,
  type UnspentOpening,
} from './openings.js'
export type { RemovalByFraud, RemovalStage } from './removal-stages.js'
export {
  type FraudRemoval,
  type RemovalContext,
  removeFraudulentBlock,
} from './remove-fraudulent-block.js'
export {
  encodeResolution,
  type Resolution,
  type ResolvedOpening,
  resolutionName,
  resolutionsOf,
} from './resolutions.js'
export { movedParts } from './shapes/moved-parts.js'
export type { AssetPlace } from './shapes/shapes.js'
export type { FoundFraud, ProofPart } from './smallest-proof.js'
export {
  accuseShown,
  type DerivedMap,
  deriveMap,
  type ShownFrauds,
  shownFrauds,
} from './summons/accuse-shown.js'
export {
  answerIn,
  type ChunkAnswer,
  encodeAsk,
  encodeChunkAnswer,
  encodeExpiry,
  encodeNodeAnswer,
  encodeReclaim,
} from './summons/actions.js'
export { type AnsweringMap, answerAboutNode } from './summons/answer.js'
export {
  chunkAnswerFromData,
  chunkCountOf,
  type ShownChunkAnswer,
  transactionsInChunk,
} from './summons/chunk-answer.js'
export type { Difference } from './summons/compare.js'
export {
  type NodeAnswer,
  nodeAnswerFromData,
  nodeKey,
  nodeOfKey,
  type ShownNode,
} from './summons/node-answer.js'
export { claimOutput } from './summons/output-claim.js'
export { type NextQuestion, nextQuestions, type SearchResult } from './summons/search.js'
export { createShownMap, type ShownMap } from './summons/shown-map.js'
export { outsource, roomBesideRemoval } from './supplied-bytes.js'
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
