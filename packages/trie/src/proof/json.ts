import { fromHex, toHex } from '@ratatosk/cbor'
import { proofMalformed } from '../errors.js'
import type { Proof, ProofStep } from './proof.js'

/** A step in the JSON of Aiken's off-chain library: bytes in lower-case hex. */
export type ProofStepJson =
  | { type: 'branch'; skip: number; neighbors: string }
  | { type: 'fork'; skip: number; neighbor: { prefix: string; nibble: number; root: string } }
  | { type: 'leaf'; skip: number; neighbor: { key: string; value: string } }

/** The proof in the JSON format of Aiken's off-chain library. */
export function proofToJson(proof: Proof): ProofStepJson[] {
  return proof.map(stepToJson)
}

function stepToJson(step: ProofStep): ProofStepJson {
  const { type, skip } = step
  switch (type) {
    case 'branch':
      return { type, skip, neighbors: toHex(step.neighbors) }
    case 'fork': {
      const { prefix, nibble, root } = step.neighbor
      return { type, skip, neighbor: { prefix: toHex(prefix), nibble, root: toHex(root) } }
    }
    case 'leaf': {
      const { key, value } = step.neighbor
      return { type, skip, neighbor: { key: toHex(key), value: toHex(value) } }
    }
  }
}

/**
 * Reads a proof from the JSON format of Aiken's off-chain library.
 *
 * @param json the result of `JSON.parse`
 * @throws TrieError `TRIE_PROOF_MALFORMED` if it has another shape
 */
export function proofFromJson(json: unknown): Proof {
  if (!Array.isArray(json)) throw proofMalformed('not an array')
  return json.map(stepFromJson)
}

function stepFromJson(json: unknown): ProofStep {
  const { type, ...step } = toRecord(json, 'a step')
  const skip = toNumber(step.skip, 'skip')
  if (type === 'branch') return { type, skip, neighbors: toBytes(step.neighbors, 'neighbors') }
  const neighbor = toRecord(step.neighbor, 'neighbor')
  if (type === 'fork') {
    return {
      type,
      skip,
      neighbor: {
        nibble: toNumber(neighbor.nibble, 'nibble'),
        prefix: toBytes(neighbor.prefix, 'prefix'),
        root: toBytes(neighbor.root, 'root'),
      },
    }
  }
  if (type === 'leaf') {
    return {
      type,
      skip,
      neighbor: { key: toBytes(neighbor.key, 'key'), value: toBytes(neighbor.value, 'value') },
    }
  }
  throw proofMalformed('a step is not a branch, a fork or a leaf')
}

function toRecord(json: unknown, name: string): Record<string, unknown> {
  if (typeof json !== 'object' || json === null) throw proofMalformed(`${name} is not an object`)
  return { ...json }
}

function toNumber(json: unknown, name: string): number {
  if (typeof json !== 'number') throw proofMalformed(`${name} is not a number`)
  return json
}

function toBytes(json: unknown, name: string): Uint8Array {
  if (typeof json !== 'string' || !/^(?:[0-9a-f]{2})*$/i.test(json))
    throw proofMalformed(`${name} is not hex`)
  return fromHex(json)
}
