import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { type AuxiliaryData, metadataLabels } from '@ratatosk/ledger'
import { badRequest } from './errors.js'

/** The most bytes of auxiliary data that are converted; their JSON is at most 16 times as long. */
export const maxMetadataLength = 64 * 1024

/** A metadatum in the JSON that cardano-cli writes without a schema, and Blockfrost with it. */
export type MetadatumJson =
  | bigint
  | string
  | readonly MetadatumJson[]
  | { readonly [key: string]: MetadatumJson }

/** The metadata of a transaction by label. Throws a 400 if the JSON could be longer than 1 MiB. */
export function metadataJson(
  data: AuxiliaryData | undefined,
): { readonly label: string; readonly json: MetadatumJson }[] {
  if (data === undefined) return []
  if (data.bytes.length > maxMetadataLength) {
    throw tooLarge()
  }
  return metadataLabels(data).map(({ label, cbor }) => ({ label: String(label), json: metadatumJson(cbor) }))
}

export function tooLarge(): Error {
  return badRequest('The metadata is too large for JSON. Read it as CBOR.')
}

/** A metadatum as CBOR, in both forms that Blockfrost has. */
export function cborJson(cbor: Uint8Array) {
  const hex = toHex(cbor)
  return { cbor_metadata: `\\x${hex}`, metadata: hex }
}

/**
 * Converts a metadatum to JSON, at most 16 times as long as the CBOR. Bytes become `0x` and their hex. Keys
 * of maps become text; a key that is a list or a map becomes `0x` and the hex of its CBOR.
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
      return `0x${toHex(Buffer.concat(readChunks(reader, major, () => reader.readBytes())))}`
    case Major.text:
      return readChunks(reader, major, () => reader.readText()).join('')
    case Major.array: {
      const items: MetadatumJson[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) items.push(read(reader))
      return items
    }
    case Major.map: {
      const entries: [string, MetadatumJson][] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) entries.push([readKey(reader), read(reader)])
      return Object.fromEntries(entries)
    }
    default:
      return reader.readInteger()
  }
}

/** As JSON, a nested key would be escaped again on each level, which doubles its length. */
function readKey(reader: CborReader): string {
  const major = reader.peekMajor()
  if (major !== Major.array && major !== Major.map) return String(read(reader))
  const start = reader.position
  reader.skip()
  return `0x${toHex(reader.since(start))}`
}

// Parts of valid CBOR as they were written.

/** The items of a list; undefined if the CBOR is no list. */
export function rawItems(cbor: Uint8Array): Uint8Array[] | undefined {
  const reader = new CborReader(cbor)
  return reader.peekMajor() === Major.array ? readItems(reader) : undefined
}

/** The fields of a constructor; undefined if the Plutus data is no constructor. */
export function rawFields(data: Uint8Array): Uint8Array[] | undefined {
  const reader = new CborReader(data)
  if (reader.peekMajor() !== Major.tag) return undefined
  const tag = reader.readTag()
  if (tag === 2 || tag === 3) return undefined
  if (tag === 102) {
    reader.readArray()
    reader.readUint()
  }
  return readItems(reader)
}

/** The keys and values of a map; undefined if the CBOR is no map. */
export function rawEntries(cbor: Uint8Array): [key: Uint8Array, value: Uint8Array][] | undefined {
  const reader = new CborReader(cbor)
  if (reader.peekMajor() !== Major.map) return undefined
  const entries: [Uint8Array, Uint8Array][] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) entries.push([readRaw(reader), readRaw(reader)])
  return entries
}

/** A string: its characters, or its bytes in hex; undefined if the CBOR is no string. */
export function rawString(
  cbor: Uint8Array,
): { readonly text: string } | { readonly bytes: string } | undefined {
  const reader = new CborReader(cbor)
  const major = reader.peekMajor()
  if (major === Major.text) return { text: readChunks(reader, major, () => reader.readText()).join('') }
  if (major !== Major.bytes) return undefined
  return {
    bytes: readChunks(reader, major, () => reader.readBytes())
      .map(toHex)
      .join(''),
  }
}

/** The chunks of a string of definite or indefinite length. */
export function readChunks<Chunk>(reader: CborReader, major: number, readChunk: () => Chunk): Chunk[] {
  if (!reader.tryIndefinite(major)) return [readChunk()]
  const all: Chunk[] = []
  for (let i = 0; reader.hasNext(-1, i); i++) all.push(readChunk())
  return all
}

function readItems(reader: CborReader): Uint8Array[] {
  const items: Uint8Array[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i++) items.push(readRaw(reader))
  return items
}

function readRaw(reader: CborReader): Uint8Array {
  const start = reader.position
  reader.skip()
  return reader.since(start)
}

/** Plutus data in cardano-cli's detailed JSON schema. */
type PlutusJson =
  | { readonly int: bigint }
  | { readonly bytes: string }
  | { readonly list: readonly PlutusJson[] }
  | { readonly map: readonly { readonly k: PlutusJson; readonly v: PlutusJson }[] }
  | { readonly constructor: number; readonly fields: readonly PlutusJson[] }

/**
 * Converts Plutus data to JSON.
 *
 * @param data valid Plutus data in CBOR, as decoded by the ledger
 */
export function plutusJson(data: Uint8Array): PlutusJson {
  return readData(new CborReader(data))
}

function readData(reader: CborReader): PlutusJson {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return { int: reader.readInteger() }
    case Major.bytes:
      return { bytes: toHex(readBytes(reader)) }
    case Major.array:
      return { list: readList(reader) }
    case Major.map:
      return { map: readMap(reader) }
    default:
      return readTagged(reader)
  }
}

function readTagged(reader: CborReader): PlutusJson {
  const tag = reader.readTag()
  if (tag === 2 || tag === 3) {
    const magnitude = BigInt(`0x0${toHex(readBytes(reader))}`)
    return { int: tag === 2 ? magnitude : -1n - magnitude }
  }
  if (tag !== 102) {
    return { constructor: tag < 1280 ? tag - 121 : tag - 1280 + 7, fields: readList(reader) }
  }
  const count = reader.readArray()
  const data = { constructor: reader.readUint(), fields: readList(reader) }
  if (count === -1) reader.hasNext(count, 2)
  return data
}

function readList(reader: CborReader): PlutusJson[] {
  const items: PlutusJson[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i++) items.push(readData(reader))
  return items
}

function readMap(reader: CborReader): { k: PlutusJson; v: PlutusJson }[] {
  const entries: { k: PlutusJson; v: PlutusJson }[] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) entries.push({ k: readData(reader), v: readData(reader) })
  return entries
}

function readBytes(reader: CborReader): Uint8Array {
  return Buffer.concat(readChunks(reader, Major.bytes, () => reader.readBytes()))
}
