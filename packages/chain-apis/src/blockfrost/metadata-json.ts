import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { encodeJson } from '../json.js'

/** A metadatum in the JSON that cardano-cli writes without a schema, and Blockfrost with it. */
export type MetadatumJson =
  | bigint
  | string
  | readonly MetadatumJson[]
  | { readonly [key: string]: MetadatumJson }

/**
 * Converts a metadatum to JSON. Bytes become `0x` and their hex; keys of maps become text.
 *
 * @param cbor a valid metadatum, as decoded by the ledger
 */
export function metadatumJson(cbor: Uint8Array): MetadatumJson {
  return read(new CborReader(cbor))
}

function read(reader: CborReader): MetadatumJson {
  const major = reader.peekMajor()
  switch (major) {
    case Major.bytes:
      return `0x${toHex(Buffer.concat(chunks(reader, major, () => reader.readBytes())))}`
    case Major.text:
      return chunks(reader, major, () => reader.readText()).join('')
    case Major.array: {
      const items: MetadatumJson[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) items.push(read(reader))
      return items
    }
    case Major.map: {
      const entries: [string, MetadatumJson][] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) entries.push([keyText(read(reader)), read(reader)])
      return Object.fromEntries(entries)
    }
    default:
      return reader.readInteger()
  }
}

/** The chunks of a string of definite or indefinite length. */
function chunks<Chunk>(reader: CborReader, major: number, readChunk: () => Chunk): Chunk[] {
  if (!reader.tryIndefinite(major)) return [readChunk()]
  const all: Chunk[] = []
  for (let i = 0; reader.hasNext(-1, i); i++) all.push(readChunk())
  return all
}

function keyText(key: MetadatumJson): string {
  if (typeof key === 'string') return key
  return encodeJson(key)
}
