import { BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  childHash,
  divergence,
  emptyRoot,
  nibbleAt,
  nodeHash,
  type Proof,
  pathLength,
  stepAway,
  stepBeside,
  type TrieView,
} from '@ratatosk/trie'
import type { MapProofs } from '../accused-block.js'
import { absent, type Difference, present } from './compare.js'
import { isBranchAnswer, type NodeAnswer, nodeOfKey, type ShownNode } from './node-answer.js'
import { entryQuestion, type NextQuestion } from './search.js'

/** The part of a posted map that answers show. Other parts throw an error. */
export interface ShownMap extends MapProofs {
  /** Takes an answer that the summons has accepted. */
  add(question: Pick<NextQuestion, 'kind' | 'key' | 'hash'>, answer: NodeAnswer): void
  /** Takes an opening that a search has found, or an answer about a chunk has shown. */
  know(opening: Difference): void
  /** Proofs of which some are empty, because a node is not shown: `missing` receives what asks for it. */
  incomplete(missing: (question: NextQuestion, proof: Proof) => void): MapProofs
  /** Keys and values that are shown, of a transactions map. */
  entries(): Iterable<readonly [key: Uint8Array, value: Uint8Array]>
  /** Paths that are shown to have no entry, although the true map has one. */
  absences(): Iterable<Uint8Array>
}

/** A proof needs an entry that is not shown: `question` asks for it. */
class NotShown extends Error {
  override readonly name = 'NotShown'

  constructor(readonly question: NextQuestion) {
    super('The answers do not show what a proof needs')
  }
}

/**
 * A posted map, of which nothing is shown yet.
 *
 * @param truth the map that follows from the transactions: a node of it is shown where its hash is posted
 */
export function createShownMap(root: Uint8Array, truth?: Pick<TrieView, 'nodeAt'>): ShownMap {
  /** By depth and hash. */
  const nodes = new Map<string, ShownNode>()
  /** By path. */
  const openings = new BytesMap<Difference>()
  const nameOf = (depth: number, hash: Uint8Array): string => `${depth} ${toHex(hash)}`

  function trueNode(path: Uint8Array, depth: number, hash: Uint8Array): ShownNode | undefined {
    const node = truth?.nodeAt(path, depth)
    return node !== undefined && equalBytes(nodeHash(node, depth), hash) ? node : undefined
  }

  function openPath(path: Uint8Array): { readonly hash?: Uint8Array; readonly proof: Proof } {
    const known = openings.get(path)
    if (known !== undefined) return known.posted
    const steps: Proof[number][] = []
    let [depth, hash] = [0, root]
    if (equalBytes(root, emptyRoot())) return { proof: steps }
    for (;;) {
      const node = nodes.get(nameOf(depth, hash)) ?? trueNode(path, depth, hash)
      if (node === undefined) throw new NotShown(entryQuestion(path, root))
      if (node.kind === 'leaf' && equalBytes(node.path, path)) return { hash: node.valueHash, proof: steps }
      if (node.kind === 'leaf' || divergence(path, node.path, depth) < node.fork)
        return { proof: [...steps, stepAway(node, depth, path)] }
      const nibble = nibbleAt(path, node.fork)
      steps.push(stepBeside(node, depth, nibble))
      const below = childHash(node, nibble)
      if (below === undefined) return { proof: steps }
      depth = node.fork + 1
      hash = below
    }
  }

  return {
    openPath,
    prove: (key) => openPath(blake2b256(key)).proof,
    proveAbsence: (key) => openPath(blake2b256(key)).proof,

    incomplete(missing) {
      const openShown: MapProofs['openPath'] = (path) => {
        try {
          return openPath(path)
        } catch (error) {
          if (!(error instanceof NotShown)) throw error
          const proof: Proof = []
          missing(error.question, proof)
          return { proof }
        }
      }
      const prove = (key: Uint8Array) => openShown(blake2b256(key)).proof
      return { openPath: openShown, prove, proveAbsence: prove }
    },

    add({ kind, key, hash }, answer) {
      const { path, depth } = nodeOfKey(key)
      if ('absent' in answer) {
        openings.set(path, absent({ path }, answer.absent))
        return
      }
      if (!isBranchAnswer(answer)) {
        const { node, steps } = answer
        if (steps.length === 0) nodes.set(nameOf(depth, hash), node)
        // Another leaf below the node is one that a search turns into a difference.
        else if (kind === 'entry') openings.set(path, present(node, steps))
        return
      }
      const { node, children } = answer
      nodes.set(nameOf(depth, hash), node)
      for (const [nibble, child] of children.entries()) {
        const below = childHash(node, nibble)
        if (child !== undefined && below !== undefined) nodes.set(nameOf(node.fork + 1, below), child)
      }
    },

    know(opening) {
      openings.set(opening.path, opening)
    },

    *entries() {
      for (const { entry } of openings.values()) if (entry !== undefined) yield entry
      for (const node of nodes.values())
        if (node.kind === 'leaf' && node.entry !== undefined) yield node.entry
    },

    *absences() {
      for (const { path, posted } of openings.values())
        if (posted.hash === undefined && truth?.nodeAt(path, pathLength) !== undefined) yield path
    },
  }
}
