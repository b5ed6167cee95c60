import {
  CborReader,
  CborWriter,
  concatBytes,
  expectTag,
  fromHex,
  isDecodeError,
  Major,
  readList,
  readRecord,
  toHex,
} from '@ratatosk/cbor'
import { proofMalformed } from '../errors.js'
import type { Proof, ProofStep } from './proof.js'

/** CBOR tags of the constructors 0, 1 and 2 of Plutus data. */
const branchTag = 121
const forkTag = 122
const leafTag = 123
const neighborTag = 121

/**
 * Encodes a proof as Plutus data, byte for byte as Aiken's off-chain library does: ready for a redeemer.
 *
 * A list of `Branch { skip, neighbors }`, `Fork { skip, neighbor: { nibble, prefix, root } }` and
 * `Leaf { skip, key, value }`, the constructors 0, 1 and 2.
 *
 * @example
 * const redeemer = proofToCbor(trie.prove(key))
 */
export function proofToCbor(proof: Proof): Uint8Array {
  const writer = new CborWriter().indefiniteArray()
  for (const step of proof) writeStep(writer, step)
  return writer.break().toBytes()
}

function writeStep(writer: CborWriter, step: ProofStep): void {
  const { type, skip } = step
  if (type === 'branch') {
    writer.tag(branchTag).indefiniteArray().uint(skip).boundedBytes(step.neighbors)
  } else if (type === 'fork') {
    const { nibble, prefix, root } = step.neighbor
    writer.tag(forkTag).indefiniteArray().uint(skip)
    writer.tag(neighborTag).indefiniteArray().uint(nibble).boundedBytes(prefix).boundedBytes(root).break()
  } else {
    const { key, value } = step.neighbor
    writer.tag(leafTag).indefiniteArray().uint(skip).boundedBytes(key).boundedBytes(value)
  }
  writer.break()
}

/**
 * Decodes a proof from Plutus data, with definite or indefinite lengths.
 *
 * @throws TrieError `TRIE_PROOF_MALFORMED` if the bytes are not a proof, or not a proof only
 */
export function proofFromCbor(cbor: Uint8Array): Proof {
  try {
    const reader = new CborReader(cbor)
    const proof = readList(reader, readStep)
    reader.assertEnd()
    return proof
  } catch (error) {
    if (isDecodeError(error)) throw proofMalformed(error.message)
    throw error
  }
}

function readStep(reader: CborReader): ProofStep {
  const tag = reader.readTag()
  switch (tag) {
    case branchTag:
      return readRecord(reader, 2, () => ({
        type: 'branch',
        skip: reader.readUint(),
        neighbors: readBytes(reader),
      }))
    case forkTag:
      return readRecord(reader, 2, () => ({
        type: 'fork',
        skip: reader.readUint(),
        neighbor: readFork(reader),
      }))
    case leafTag:
      return readRecord(reader, 3, () => ({
        type: 'leaf',
        skip: reader.readUint(),
        neighbor: { key: readBytes(reader), value: readBytes(reader) },
      }))
    default:
      throw proofMalformed('a step is not a branch, a fork or a leaf')
  }
}

function readFork(reader: CborReader): { nibble: number; prefix: Uint8Array; root: Uint8Array } {
  expectTag(reader, neighborTag)
  return readRecord(reader, 3, () => ({
    nibble: reader.readUint(),
    prefix: readBytes(reader),
    root: readBytes(reader),
  }))
}

/** A byte string, or one in chunks, which Plutus data is limited to over 64 bytes. */
function readBytes(reader: CborReader): Uint8Array {
  if (!reader.tryIndefinite(Major.bytes)) return Uint8Array.from(reader.readBytes())
  const chunks: Uint8Array[] = []
  while (reader.hasNext(-1, chunks.length)) chunks.push(reader.readBytes())
  return concatBytes(...chunks)
}

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
