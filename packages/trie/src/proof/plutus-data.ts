import { ProofMalformed } from '../errors.js'
import { type PlutusConstructor, type PlutusData, readPlutusData } from './plutus-data-reader.js'
import type { Proof, ProofStep } from './proof.js'

/** CBOR tags of the constructors 0, 1 and 2 of Plutus data. */
const BRANCH = 121
const FORK = 122
const LEAF = 123
const NEIGHBOR = 121

const LIST_BEGIN = Buffer.of(0x9f)
const BYTES_BEGIN = Buffer.of(0x5f)
const BREAK = Buffer.of(0xff)
/** Plutus data has no longer byte string in one piece. */
const CHUNK_LENGTH = 64

/**
 * The proof as the CBOR of Plutus data, byte for byte as Aiken's off-chain library has it: ready for a redeemer.
 *
 * A list of `Branch { skip, neighbors }`, `Fork { skip, neighbor: { nibble, prefix, root } }` and
 * `Leaf { skip, key, value }`, the constructors 0, 1 and 2.
 *
 * @example
 * const redeemer = proofToCbor(trie.prove(key))
 */
export function proofToCbor(proof: Proof): Uint8Array {
  return Uint8Array.from(list(proof.map(encodeStep)))
}

function encodeStep(step: ProofStep): Buffer {
  switch (step.type) {
    case 'branch':
      return encodeConstructor(BRANCH, [integer(step.skip), byteString(step.neighbors)])
    case 'fork': {
      const { nibble, prefix, root } = step.neighbor
      const neighbor = encodeConstructor(NEIGHBOR, [integer(nibble), byteString(prefix), byteString(root)])
      return encodeConstructor(FORK, [integer(step.skip), neighbor])
    }
    case 'leaf':
      return encodeConstructor(LEAF, [
        integer(step.skip),
        byteString(step.neighbor.key),
        byteString(step.neighbor.value),
      ])
  }
}

function encodeConstructor(tag: number, fields: Buffer[]): Buffer {
  return Buffer.concat([head(6, tag), list(fields)])
}

function list(items: Buffer[]): Buffer {
  return Buffer.concat([LIST_BEGIN, ...items, BREAK])
}

function integer(value: number): Buffer {
  return head(0, value)
}

function byteString(bytes: Uint8Array): Buffer {
  if (bytes.length <= CHUNK_LENGTH) return Buffer.concat([head(2, bytes.length), bytes])
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_LENGTH) {
    chunks.push(byteString(bytes.subarray(start, start + CHUNK_LENGTH)))
  }
  return Buffer.concat([BYTES_BEGIN, ...chunks, BREAK])
}

/** The first bytes of a CBOR item. No number in a proof is above 255. */
function head(majorType: number, value: number): Buffer {
  return value < 24 ? Buffer.of((majorType << 5) | value) : Buffer.of((majorType << 5) | 24, value)
}

/**
 * Reads a proof from the CBOR of Plutus data, of definite or indefinite lengths.
 *
 * @throws {ProofMalformed} when the bytes are something else, or more
 */
export function proofFromCbor(cbor: Uint8Array): Proof {
  const data = readPlutusData(cbor)
  if (!Array.isArray(data)) throw new ProofMalformed('it is no list')
  return data.map(decodeStep)
}

function decodeStep(data: PlutusData): ProofStep {
  const { tag, fields } = toConstructor(data)
  const [skip, second, third] = fields
  if (tag === BRANCH && fields.length === 2) {
    return { type: 'branch', skip: toInteger(skip), neighbors: toBytes(second) }
  }
  if (tag === FORK && fields.length === 2) {
    const neighbor = toConstructor(second)
    const [nibble, prefix, root] = neighbor.fields
    if (neighbor.tag !== NEIGHBOR || neighbor.fields.length !== 3)
      throw new ProofMalformed('a fork has a neighbor')
    return {
      type: 'fork',
      skip: toInteger(skip),
      neighbor: { nibble: toInteger(nibble), prefix: toBytes(prefix), root: toBytes(root) },
    }
  }
  if (tag === LEAF && fields.length === 3) {
    return { type: 'leaf', skip: toInteger(skip), neighbor: { key: toBytes(second), value: toBytes(third) } }
  }
  throw new ProofMalformed('a step is a branch, a fork or a leaf')
}

function toConstructor(data: PlutusData | undefined): PlutusConstructor {
  if (typeof data === 'object' && 'tag' in data) return data
  throw new ProofMalformed('a constructor is missing')
}

function toInteger(data: PlutusData | undefined): number {
  if (typeof data === 'number') return data
  throw new ProofMalformed('an integer is missing')
}

function toBytes(data: PlutusData | undefined): Uint8Array {
  if (data instanceof Uint8Array) return data
  throw new ProofMalformed('a byte string is missing')
}
