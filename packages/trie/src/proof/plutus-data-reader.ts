import { ProofMalformed } from '../errors.js'
import { asBuffer } from '../hash.js'

/** As much of Plutus data as proofs are made of. */
export type PlutusData = number | Uint8Array | PlutusData[] | PlutusConstructor

export interface PlutusConstructor {
  /** The CBOR tag: 121 for the constructor 0. */
  tag: number
  fields: PlutusData[]
}

/** The proof, a step, its neighbour, each with the list inside: nothing in a proof lies deeper. */
const MAX_DEPTH = 6
const UNSIGNED = 0
const BYTES = 2
const LIST = 4
const TAG = 6
const BREAK = 0xff

interface Head {
  majorType: number
  /** The number, length or tag; none where the length is indefinite. */
  argument: number | undefined
}

/**
 * Reads one item of Plutus data that takes all the bytes.
 *
 * @throws {ProofMalformed} when the bytes are no such item, or one that no proof has (a map, a negative integer)
 */
export function readPlutusData(cbor: Uint8Array): PlutusData {
  const bytes = asBuffer(cbor)
  let offset = 0

  function take(length: number): Buffer {
    if (offset + length > bytes.length) throw new ProofMalformed('the bytes end too soon')
    offset += length
    return bytes.subarray(offset - length, offset)
  }

  function head(): Head {
    const [initial = 0] = take(1)
    const majorType = initial >> 5
    const info = initial & 0x1f
    if (info < 24) return { majorType, argument: info }
    if (info < 28) return { majorType, argument: Number(`0x${take(2 ** (info - 24)).toString('hex')}`) }
    if (info === 31 && (majorType === BYTES || majorType === LIST)) return { majorType, argument: undefined }
    throw new ProofMalformed('the bytes are no Plutus data')
  }

  function breaks(): boolean {
    if (bytes[offset] !== BREAK) return false
    offset += 1
    return true
  }

  function byteString(length: number | undefined): Uint8Array {
    if (length !== undefined) return Uint8Array.from(take(length))
    const chunks: Uint8Array[] = []
    while (!breaks()) {
      const { majorType, argument } = head()
      if (majorType !== BYTES || argument === undefined) throw new ProofMalformed('a chunk is no byte string')
      chunks.push(take(argument))
    }
    return Uint8Array.from(Buffer.concat(chunks))
  }

  function list(length: number | undefined, depth: number): PlutusData[] {
    const items: PlutusData[] = []
    while (length === undefined ? !breaks() : items.length < length) items.push(item(depth + 1))
    return items
  }

  function item(depth: number): PlutusData {
    if (depth > MAX_DEPTH) throw new ProofMalformed('it is nested too deeply')
    const { majorType, argument } = head()
    if (majorType === BYTES) return byteString(argument)
    if (majorType === LIST) return list(argument, depth)
    if (majorType === UNSIGNED && argument !== undefined) return argument
    if (majorType === TAG && argument !== undefined) {
      const fields = item(depth + 1)
      if (Array.isArray(fields)) return { tag: argument, fields }
    }
    throw new ProofMalformed('the bytes are no Plutus data of a proof')
  }

  const data = item(0)
  if (offset !== bytes.length) throw new ProofMalformed('there are bytes after it')
  return data
}
