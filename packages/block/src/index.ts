export type {
  Archive,
  ArchivedBlock,
  Evidence,
  InvalidBlockReport,
  NewArchivedBlock,
  WritableArchive,
} from './archive.js'
export type { BlockBody, BlockDiff, BodyPart, Deposit, ProducedOutput } from './body.js'
export {
  bodyGrammar,
  bodyOfEncoding,
  collectParts,
  decodeBlockBody,
  type EncodedBody,
  maxBodyBytes,
  partsOfBody,
  readEncodedBody,
} from './body-decoding.js'
export { encodeBlockBody, encodeBlockBodyInTurns, encodeBlockBodyStream } from './body-encoding.js'
export { isBridgeAddress, isLeaving } from './bridge.js'
export {
  type ChunkRecord,
  chunkKey,
  chunkKind,
  chunkRecordLength,
  countWithinChunks,
  createChunker,
  decodeChunkRecord,
  encodeChunkRecord,
  frameHeads,
  longestChunk,
  maxChunkLength,
  maxChunks,
  mostInParts,
} from './derivation/chunks.js'
export {
  type BlockEvents,
  bodyOf,
  createDerivation,
  type DerivationRules,
  deriveBlock,
  type ReadBody,
} from './derivation/derive.js'
export { createPackedEntries, type PackedEntries } from './derivation/packed-entries.js'
export { type MovedParts, partsOf, partsOfFrames, type TransactionParts } from './derivation/parts.js'
export {
  decodeOutputRecord,
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  type OutputRecord,
  outputRecordLength,
  type RecordKind,
  recordKind,
  type TransactionRecord,
  transactionKey,
  transactionRecordLength,
} from './derivation/records.js'
export {
  createTransactionsMap,
  type TransactionsMap,
  transactionsRoot,
} from './derivation/transactions-map.js'
export type {
  Derivation,
  DerivedBlock,
  DerivedOutput,
  DerivedOutputs,
  OutputHashes,
} from './derivation/types.js'
export {
  BlockError,
  type BlockErrorCode,
  type BlockErrorDetails,
  isBlockError,
  isInvalidBlock,
} from './errors.js'
export { assertDeposits, creditsJust, depositsRoot, type EventSource, verifyDeposits } from './events.js'
export {
  byteString,
  createFeed,
  expectBytes,
  type Feed,
  type Grammar,
  keepingFeed,
  unsigned,
} from './feed.js'
export {
  creditFees,
  type FeeHeader,
  type FeeTarget,
  feeOutput,
  isFeeOutput,
  withFeeOutput,
  withoutFeeOutput,
} from './fees.js'
export {
  blockVersion,
  decodeHeader,
  type EncodedHeader,
  encodedHeader,
  encodeHeader,
  genesisHeaderHash,
  type Header,
  hashLength,
  headerFieldCount,
  headerFieldIndex,
  headerFromData,
  headerHash,
  headerToData,
  isGenesisHeaderHash,
  rootLength,
} from './header.js'
export {
  type BlockInterval,
  type BlockRules,
  decodeTransactionAt,
  fitOf,
  type IntervalFit,
  intervalOf,
  type JudgedHeader,
  judgeBlock,
  type KnownAt,
  type KnownTransaction,
  remaining,
} from './judge.js'
export {
  createOutputTrie,
  type OutputTrie,
  type OutputTrieOptions,
} from './output-trie.js'
export { createPauses } from './pauses.js'
export { atOnce, inTurns, isStep, type Steps, sorting } from './steps.js'
export { operationsOfDiff } from './update-by-diff.js'
export { decoded, derive, verifyBody, verifyHeader, verifyRoot } from './verify.js'
