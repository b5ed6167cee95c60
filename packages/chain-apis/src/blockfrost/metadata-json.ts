import { CborReader, Major, toHex } from '@ratatosk/cbor'
import { type AuxiliaryData, metadataLabels } from '@ratatosk/ledger'
import { badRequest } from './errors.js'
import { readChunks } from './raw-cbor.js'

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
