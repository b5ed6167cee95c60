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
  decodeBlockBody,
  type EncodedBody,
  encodeBlockBody,
  encodeBlockBodyInTurns,
  encodeBlockBodyStream,
  maxBodyBytes,
  partsOfBody,
  readEncodedBody,
} from './body.js'
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
  creditFees,
  type Derivation,
  type DerivationRules,
  type DerivedBlock,
  type DerivedOutputs,
  deriveBlock,
  type OutputHashes,
  type ReadBody,
} from './derivation/derive.js'
export { type MovedParts, partsOf, partsOfFrames, type TransactionParts } from './derivation/parts.js'
export {
  type DerivedOutput,
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
  createPackedEntries,
  createTransactionsMap,
  type PackedEntries,
  type TransactionsMap,
  transactionsRoot,
} from './derivation/transactions-map.js'
export {
  BlockError,
  type BlockErrorCode,
  type BlockErrorDetails,
  isBlockError,
  isInvalidBlock,
} from './errors.js'
export {
  creditsJust,
  depositsRoot,
  type EventSource,
  type FeeHeader,
  type FeeTarget,
  faultOfDeposits,
  feeOutput,
  isBridgeAddress,
  isFeeOutput,
  isLeaving,
  withFeeOutput,
  withoutFeeOutput,
} from './events.js'
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
  operationsOfDiff,
} from './output-trie.js'
export { atOnce, createPauses, inPieces, inTurns, isStep, type Steps, sorting } from './turns.js'
export { derive, faultOfHeader, type RightBody, verifyBody } from './verify.js'
