import { CborReader, CborWriter, concatBytes, isDecodeError, Major, toHex } from '@ratatosk/ledger'
import { MalformedData } from '../errors.js'

/** Plutus data as far as the protocol uses it: no maps, and no constructor beyond the seventh. */
export type PlutusData = bigint | Uint8Array | readonly PlutusData[] | PlutusConstr

export interface PlutusConstr {
  /** From 0 to 6. */
  readonly index: number
  readonly fields: readonly PlutusData[]
}

/** CBOR tag of the first constructor. */
const firstTag = 121
const lastIndex = 6
/** Tag of a constructor that is written with its index as a number: `[index, fields]`. */
const generalTag = 102
/** Initial bytes of bignums. */
const positive = 0xc2
const negative = 0xc3
const maxDepth = 16

export const constr = (index: number, ...fields: readonly PlutusData[]): PlutusConstr => ({ index, fields })

/** As `serialiseData` writes it on chain, so that a hash of it is the hash that a validator finds. */
export function encodePlutusData(data: PlutusData): Uint8Array {
  const writer = new CborWriter()
  write(writer, data)
  return writer.toBytes()
}

function write(writer: CborWriter, data: PlutusData): void {
  if (typeof data === 'bigint') writer.int(data)
  else if (data instanceof Uint8Array) writer.boundedBytes(data)
  else if ('fields' in data) writeList(writer.tag(firstTag + data.index), data.fields)
  else writeList(writer, data)
}

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
 * Reads every encoding that the ledger takes.
 *
 * @throws {MalformedData} where the bytes are no such data, or more
 */
export function decodePlutusData(cbor: Uint8Array): PlutusData {
  try {
    const reader = new CborReader(cbor)
    const data = read(reader, 0)
    reader.assertEnd()
    return data
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new MalformedData(error.message, { cause: error })
  }
}

function read(reader: CborReader, depth: number): PlutusData {
  if (depth > maxDepth) throw new MalformedData('Data nested deeper than anything in the protocol')
  switch (reader.peekMajor()) {
    case Major.bytes:
      return readBytes(reader)
    case Major.array:
      return readList(reader, depth)
    case Major.tag:
      return readBignum(reader) ?? readConstr(reader, depth)
    default:
      return reader.readInt64()
  }
}

/** Whoever commits a block chooses how its datum is encoded, so whatever the ledger reads has to be read. */
function readBignum(reader: CborReader): bigint | undefined {
  const initial = reader.peek()
  if (initial !== positive && initial !== negative) return undefined
  reader.readTag()
  const magnitude = BigInt(`0x0${toHex(readBytes(reader))}`)
  return initial === positive ? magnitude : -1n - magnitude
}

function readConstr(reader: CborReader, depth: number): PlutusConstr {
  const tag = reader.readTag()
  if (tag !== generalTag) return protocolConstr(tag - firstTag, readList(reader, depth))
  const start = reader.position
  const count = reader.readArray()
  const index = reader.readUint()
  const fields = readList(reader, depth)
  reader.leaveArray(count, 2, start)
  return protocolConstr(index, fields)
}

function protocolConstr(index: number, fields: readonly PlutusData[]): PlutusConstr {
  if (index < 0 || index > lastIndex) throw new MalformedData(`No constructor of the protocol: ${index}`)
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
