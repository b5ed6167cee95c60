export {
  DuplicateKey,
  KeyExists,
  KeyMissing,
  NothingToUndo,
  ProofMalformed,
  RootUnknown,
  StoreConflict,
  StoreCorrupt,
  TrieError,
  type TrieErrorCode,
} from './errors.js'
export { type ProofStepJson, proofFromJson, proofToJson } from './proof/json.js'
export { proofFromCbor, proofToCbor } from './proof/plutus-data.js'
export type { BranchStep, ForkStep, LeafStep, Proof, ProofStep } from './proof/proof.js'
export { rootExcluding, rootIncluding, verifyExclusion, verifyInclusion } from './proof/verify.js'
export { type LmdbStoreOptions, openLmdbStore } from './store/lmdb.js'
export { createMemoryStore, type MemoryStore } from './store/memory.js'
export type { Outcome, TrieStore, Version, WriteNode } from './store/store.js'
export { createTrie, type Trie, type TrieOptions } from './trie.js'
export type { Entry } from './update/build.js'
export type { Operation } from './update/operations.js'
export type { TrieView } from './view.js'
