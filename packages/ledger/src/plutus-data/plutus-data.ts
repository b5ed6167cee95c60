import { CborReader, CborWriter, concatBytes, isDecodeError, Major, toHex } from '@ratatosk/cbor'
import { PlutusDataError } from '../errors.js'
import { type DataValue, decodeData } from '../plutus/cek/values/data.js'

/*
 * The CEK machine has a separate codec (plutus/cek/values/data.ts) with maps, all constructors and the
 * linked lists that builtins share; `decodeAnyData` is it. The datums of the protocol need plain arrays and
 * stricter limits.
 */

/**
 * The subset of Plutus data that the rollup protocol uses: integers, byte strings, lists, and constructors 0
 * to 127, which have tags of their own. There are no maps.
 */
export type PlutusData = bigint | Uint8Array | readonly PlutusData[] | PlutusConstr

/** A constructor of Plutus data with its fields. */
export interface PlutusConstr {
  /** From 0 to 127. */
  readonly index: number
  readonly fields: readonly PlutusData[]
}

/** CBOR tags of constructor 0 and constructor 7. */
const firstTag = 121
const seventhTag = 1280
const lastIndex = 127
/** CBOR tag of the general form of a constructor: `[index, fields]`. */
const generalTag = 102
/** Initial bytes of bignums. */
const positive = 0xc2
const negative = 0xc3
const maxDepth = 16

/** Builds a constructor. The index must be from 0 to 127. */
export const constr = (index: number, ...fields: readonly PlutusData[]): PlutusConstr => ({ index, fields })

/**
 * Encodes Plutus data as the builtin `serialiseData` does on chain, so that hashes equal those that
 * validators compute.
 *
 * @param data its constructors must have an index from 0 to 127; this is not checked
 */
export function encodePlutusData(data: PlutusData): Uint8Array {
  const writer = new CborWriter()
  write(writer, data)
  return writer.toBytes()
}

function write(writer: CborWriter, data: PlutusData): void {
  if (typeof data === 'bigint') writer.int(data)
  else if (data instanceof Uint8Array) writer.boundedBytes(data)
  else if ('fields' in data) writeList(writer.tag(tagOf(data.index)), data.fields)
  else writeList(writer, data)
}

const tagOf = (index: number): number => (index < 7 ? firstTag + index : seventhTag + index - 7)

function writeList(writer: CborWriter, items: readonly PlutusData[]): void {
  if (items.length === 0) {
    writer.array(0)
    return
  }
  writer.indefiniteArray()
  for (const item of items) write(writer, item)
  writer.break()
}

/**
 * Decodes Plutus data in every encoding that the ledger accepts, nested up to 16 levels.
 *
 * @throws PlutusDataError if the bytes are not data of the type {@link PlutusData}, or bytes follow it
 */
export function decodePlutusData(cbor: Uint8Array): PlutusData {
  try {
    const reader = new CborReader(cbor)
    const data = read(reader, 0)
    reader.assertEnd()
    return data
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new PlutusDataError(error.message, { cause: error })
  }
}

function read(reader: CborReader, depth: number): PlutusData {
  if (depth > maxDepth) throw new PlutusDataError('Data nested deeper than anything in the protocol')
  switch (reader.peekMajor()) {
    case Major.bytes:
      return readBytes(reader)
    case Major.array:
      return readList(reader, depth)
    case Major.tag:
      return readBignum(reader) ?? readConstr(reader, depth)
    default:
      return reader.readInt()
  }
}

/** The author of a datum chooses its encoding, so every encoding that the ledger accepts must decode. */
function readBignum(reader: CborReader): bigint | undefined {
  const initial = reader.peek()
  if (initial !== positive && initial !== negative) return undefined
  reader.readTag()
  const magnitude = BigInt(`0x0${toHex(readBytes(reader))}`)
  return initial === positive ? magnitude : -1n - magnitude
}

function readConstr(reader: CborReader, depth: number): PlutusConstr {
  const tag = reader.readTag()
  if (tag !== generalTag) {
    const index = tag < seventhTag ? tag - firstTag : tag - seventhTag + 7
    if (tagOf(index) !== tag) throw new PlutusDataError(`No tag of a constructor: ${tag}`)
    return protocolConstr(index, readList(reader, depth))
  }
  const start = reader.position
  const count = reader.readArray()
  const index = reader.readUint()
  const fields = readList(reader, depth)
  reader.leaveArray(count, 2, start)
  return protocolConstr(index, fields)
}

function protocolConstr(index: number, fields: readonly PlutusData[]): PlutusConstr {
  if (index < 0 || index > lastIndex) throw new PlutusDataError(`No constructor of the protocol: ${index}`)
  return { index, fields }
}

function readList(reader: CborReader, depth: number): PlutusData[] {
  const count = reader.readArray()
  const items: PlutusData[] = []
  while (reader.hasNext(count, items.length)) items.push(read(reader, depth + 1))
  return items
}

function readBytes(reader: CborReader): Uint8Array {
  if (!reader.tryIndefinite(Major.bytes)) return Uint8Array.from(reader.readBytes())
  const chunks: Uint8Array[] = []
  while (reader.hasNext(-1, chunks.length)) chunks.push(reader.readBytes())
  return concatBytes(...chunks)
}

/*
 * Accessors for decoders of datums and redeemers. `what` names the value in the error message.
 */

/**
 * Returns the data as a constructor.
 *
 * @throws PlutusDataError if it is not a constructor
 */
export function constrOf(data: PlutusData | undefined, what: string): PlutusConstr {
  if (typeof data === 'object' && 'fields' in data) return data
  throw new PlutusDataError(`${what}: a constructor is missing`)
}

/**
 * Returns the fields of constructor `index`.
 *
 * @param size the expected number of fields
 * @throws PlutusDataError if the data is not this constructor with `size` fields
 */
export function fieldsOf(
  data: PlutusData | undefined,
  index: number,
  size: number,
  what: string,
): readonly PlutusData[] {
  const found = constrOf(data, what)
  if (found.index !== index || found.fields.length !== size) {
    throw new PlutusDataError(
      `${what}: constructor ${found.index} of ${found.fields.length} fields instead of ${index} of ${size}`,
    )
  }
  return found.fields
}

/**
 * Returns the data as a byte string of `length` bytes.
 *
 * @throws PlutusDataError if it is not one
 */
export function bytesOf(data: PlutusData | undefined, length: number, what: string): Uint8Array {
  if (data instanceof Uint8Array && data.length === length) return data
  throw new PlutusDataError(`${what}: ${length} bytes are missing`)
}

/**
 * Returns the data as an integer.
 *
 * @throws PlutusDataError if it is not one
 */
export function integerOf(data: PlutusData | undefined, what: string): bigint {
  if (typeof data === 'bigint') return data
  throw new PlutusDataError(`${what}: an integer is missing`)
}

/**
 * Returns the data as a list.
 *
 * @throws PlutusDataError if it is not one
 */
export function listOf(data: PlutusData | undefined, what: string): readonly PlutusData[] {
  if (Array.isArray(data)) return data
  throw new PlutusDataError(`${what}: a list is missing`)
}

/**
 * Decodes all that the ledger takes as Plutus data, also what the protocol does not use: maps, constructors
 * beyond 127, and any depth.
 *
 * @throws {PlutusDataError} if the bytes are not Plutus data, or bytes follow it
 */
export function decodeAnyData(cbor: Uint8Array): DataValue {
  try {
    const reader = new CborReader(cbor)
    const data = decodeData(reader)
    reader.assertEnd()
    return data
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new PlutusDataError(error.message, { cause: error })
  }
}
