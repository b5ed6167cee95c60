import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'
import { isTrieError, proofMalformed } from '../errors.js'
import { allocate, hashLength } from '../hash/memory.js'
import { hasher } from '../node/hasher.js'
import { radix } from '../node/node.js'
import { divergence, extendPath, nibbleAt, pathLength } from '../path.js'
import type { MapBranch } from './map-node.js'
import type { ForkStep, LeafStep, Proof, ProofStep } from './proof.js'

/**
 * The root of the map in which `key` has `value`, according to the proof.
 *
 * With the proof of an absent key, this is the root after its insertion; with the proof of a present key and
 * another value, the root after the replacement.
 *
 * @returns 32 bytes
 * @throws TrieError `TRIE_PROOF_MALFORMED` if no map can have the nodes that the proof claims
 * @example
 * const after = rootIncluding(key, value, trie.proveAbsence(key))
 */
export function rootIncluding(key: Uint8Array, value: Uint8Array, proof: Proof): Uint8Array {
  return foldProof(blake2b256(key), blake2b256(value), proof)
}

/**
 * The root of the map without `key`, according to the proof. With the proof of a present key, this is the
 * root after its deletion.
 *
 * @returns 32 bytes
 * @throws TrieError `TRIE_PROOF_MALFORMED` if no map can have the nodes that the proof claims
 */
export function rootExcluding(key: Uint8Array, proof: Proof): Uint8Array {
  return foldProof(blake2b256(key), undefined, proof)
}

/**
 * Whether the proof shows that `key` has `value` in the map with this root. False does not prove absence: the
 * value may be another one. Never throws for a malformed proof.
 *
 * @example
 * verifyInclusion(trie.root, key, value, trie.prove(key)) // true
 */
export function verifyInclusion(root: Uint8Array, key: Uint8Array, value: Uint8Array, proof: Proof): boolean {
  return isRoot(root, () => rootIncluding(key, value, proof))
}

/**
 * Whether the proof shows that `key` is not in the map with this root. Never throws for a malformed proof.
 *
 * @example
 * verifyExclusion(trie.root, key, trie.proveAbsence(key)) // true
 */
export function verifyExclusion(root: Uint8Array, key: Uint8Array, proof: Proof): boolean {
  return isRoot(root, () => rootExcluding(key, proof))
}

function isRoot(root: Uint8Array, compute: () => Uint8Array): boolean {
  try {
    return equalBytes(root, compute())
  } catch (error) {
    if (isTrieError(error)) return false
    throw error
  }
}

/** A step with its branch's position: the prefix starts at nibble `depth`, the children differ in `fork`. */
interface PlacedStep {
  step: ProofStep
  depth: number
  fork: number
}

/** A branch that a proof passes. */
export interface PassedBranch {
  /** Number of nibbles above it. */
  readonly depth: number
  /** Index of the nibble in which its children differ. */
  readonly fork: number
  readonly hash: Uint8Array
  readonly step: ProofStep
  /** The branch itself, where the proof names its only other child. */
  readonly branch?: MapBranch
}

/**
 * The branches from the root to the entry of a path, according to its proof.
 *
 * @throws TrieError `TRIE_PROOF_MALFORMED` if no map can have the nodes that the proof claims
 */
export function branchesOnWay(
  path: Uint8Array,
  valueHash: Uint8Array,
  proof: Proof,
): readonly PassedBranch[] {
  const passed: PassedBranch[] = []
  foldProof(path, valueHash, proof, (branch) => passed.unshift(branch))
  return passed
}

/** @param pass takes each branch, from the last step to the first */
function foldProof(
  path: Uint8Array,
  valueHash: Uint8Array | undefined,
  proof: Proof,
  pass?: (branch: PassedBranch) => void,
): Uint8Array {
  const steps = placeSteps(path, proof)
  const hash = allocate(hashLength)
  const last = steps.at(-1)
  if (valueHash !== undefined) {
    hasher.leaf(hash, path, last === undefined ? 0 : last.fork + 1, valueHash)
  } else if (last !== undefined && last.step.type !== 'branch') {
    // Without the key, the neighbour is the only child and replaces the branch.
    hashNeighbor(hash, last.step, path, last.fork, last.depth)
    steps.pop()
  }
  for (const { step, depth, fork } of steps.reverse()) {
    const nibble = nibbleAt(path, fork)
    const { merkleRoot, branch }: BranchAbove =
      step.type === 'branch'
        ? { merkleRoot: merkleRootAbove(hash, nibble, step.neighbors) }
        : branchOfTwo(hash, nibble, step, path, fork)
    hasher.branch(hash, path, depth, fork, merkleRoot)
    pass?.({ depth, fork, hash: Uint8Array.from(hash), step, ...(branch && { branch }) })
  }
  return Uint8Array.from(hash)
}

function placeSteps(path: Uint8Array, proof: Proof): PlacedStep[] {
  let depth = 0
  return proof.map((step) => {
    const { skip } = step
    const fork = depth + skip
    if (!Number.isInteger(skip) || skip < 0 || fork >= pathLength)
      throw proofMalformed('a skip exceeds the path')
    const placed = { step, depth, fork }
    checkStep(placed, path)
    depth = fork + 1
    return placed
  })
}

/** Checks what hashes do not prove: the neighbour is beside the path, and every part has its length. */
function checkStep({ step, fork }: PlacedStep, path: Uint8Array): void {
  if (step.type === 'branch') {
    if (step.neighbors.length !== levelCount * hashLength)
      throw proofMalformed('a branch does not have four neighbors')
  } else if (step.type === 'leaf') {
    const { key, value } = step.neighbor
    if (key.length !== hashLength || value.length !== hashLength)
      throw proofMalformed('a leaf does not have two hashes')
    if (divergence(path, key, 0) !== fork) throw proofMalformed('a leaf is not beside the path')
  } else {
    const { nibble, prefix, root } = step.neighbor
    const isNibble = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < radix
    if (root.length !== hashLength) throw proofMalformed('the root of a fork does not have 32 bytes')
    if (![nibble, ...prefix].every(isNibble)) throw proofMalformed('a nibble is not from 0 to 15')
    if (nibble === nibbleAt(path, fork)) throw proofMalformed('a fork is not beside the path')
    if (fork + 1 + prefix.length >= pathLength) throw proofMalformed('a prefix exceeds the path')
  }
}

/** Writes the hash of a neighbour whose prefix, or remaining path, starts at nibble `depth`. */
function hashNeighbor(
  output: Uint8Array,
  step: ForkStep | LeafStep,
  path: Uint8Array,
  fork: number,
  depth: number,
): void {
  if (step.type === 'leaf') {
    hasher.leaf(output, step.neighbor.key, depth, step.neighbor.value)
  } else {
    const { nibble, prefix, root } = step.neighbor
    const neighborPath = extendPath(path, fork, Uint8Array.of(nibble, ...prefix))
    hasher.branch(output, neighborPath, depth, fork + 1 + prefix.length, root)
  }
}

/** Levels of the Merkle tree over the sixteen children of a branch. */
const levelCount = 4

function merkleRootAbove(child: Uint8Array, nibble: number, neighbors: Uint8Array): Uint8Array {
  let hash = child
  for (let level = 0; level < levelCount; level += 1) {
    const start = (levelCount - 1 - level) * hashLength
    const sibling = neighbors.subarray(start, start + hashLength)
    const isRight = ((nibble >> level) & 1) === 1
    hash = blake2b256(isRight ? concatBytes(sibling, hash) : concatBytes(hash, sibling))
  }
  return hash
}

interface BranchAbove {
  readonly merkleRoot: Uint8Array
  readonly branch?: MapBranch
}

/** The branch whose only other child a step names. */
function branchOfTwo(
  child: Uint8Array,
  nibble: number,
  step: ForkStep | LeafStep,
  path: Uint8Array,
  fork: number,
): BranchAbove {
  const neighbor = step.type === 'leaf' ? nibbleAt(step.neighbor.key, fork) : step.neighbor.nibble
  const children = new Uint8Array(radix * hashLength)
  const slot = (index: number): Uint8Array => children.subarray(index * hashLength, (index + 1) * hashLength)
  slot(nibble).set(child)
  hashNeighbor(slot(neighbor), step, path, fork, fork + 1)
  const merkleRoot = hasher.merkleRoot(children, (1 << nibble) | (1 << neighbor))
  return { merkleRoot, branch: { kind: 'branch', path, fork, children } }
}
