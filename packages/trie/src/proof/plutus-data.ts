import {
  CborReader,
  CborWriter,
  concatBytes,
  expectTag,
  isDecodeError,
  Major,
  readList,
  readRecord,
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
