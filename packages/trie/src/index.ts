export { isTrieError, TrieError, type TrieErrorCode, type TrieErrorDetails } from './errors.js'
export { emptyRoot } from './hash/memory.js'
export { divergence, extendPath, nibbleAt, nibblesOf, pathLength } from './path.js'
export {
  type ProofStepJson,
  proofFromCbor,
  proofFromJson,
  proofToCbor,
  proofToJson,
} from './proof/formats.js'
export {
  childHash,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  nodeHash,
  stepAway,
  stepBeside,
} from './proof/map-node.js'
export type { BranchStep, ForkStep, LeafStep, Proof, ProofStep } from './proof/proof.js'
export {
  branchesOnWay,
  type PassedBranch,
  rootExcluding,
  rootIncluding,
  verifyExclusion,
  verifyInclusion,
} from './proof/verify.js'
export { createMemoryStore, type MemoryStore } from './store/memory.js'
export type { NewVersion, Replacement, TrieStore, Version, WriteNode } from './store/store.js'
export type { TrieView } from './trie.js'
export { createTrie, type Trie, type TrieDraft, type TrieOptions } from './trie.js'
export type { KnownPath, TrieOperation } from './update/edit.js'
export type { TrieEntry } from './update/entries.js'
export { rootOf } from './update/entries.js'
