import { CborReader, Major } from '@ratatosk/cbor'

/** A metadatum in the JSON of cardano-cli without a schema. */
type MetadatumJson = bigint | string | MetadatumJson[] | { [key: string]: MetadatumJson }

/**
 * The JSON of a metadatum, at most a few times as long as its CBOR; undefined if it has none: bytes anywhere,
 * or keys of a map that are lists, maps, or the same as text.
 *
 * @param cbor a valid metadatum, as decoded by the ledger
 */
export function metadatumJson(cbor: Uint8Array): MetadatumJson | undefined {
  return read(new CborReader(cbor))
}

function read(reader: CborReader): MetadatumJson | undefined {
  switch (reader.peekMajor()) {
    case Major.bytes:
      return undefined
    case Major.text:
      return readText(reader)
    case Major.array: {
      const items: MetadatumJson[] = []
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) {
        const item = read(reader)
        if (item === undefined) return undefined
        items.push(item)
      }
      return items
    }
    case Major.map: {
      const entries: [string, MetadatumJson][] = []
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) {
        const isKey = reader.peekMajor() !== Major.array && reader.peekMajor() !== Major.map
        const key = isKey ? read(reader) : undefined
        const value = key === undefined ? undefined : read(reader)
        if (value === undefined) return undefined
        entries.push([String(key), value])
      }
      const object = Object.fromEntries(entries)
      return Object.keys(object).length === entries.length ? object : undefined
    }
    default:
      return reader.readInteger()
  }
}

/** Text of definite or indefinite length. */
function readText(reader: CborReader): string {
  if (!reader.tryIndefinite(Major.text)) return reader.readText()
  let text = ''
  for (let i = 0; reader.hasNext(-1, i); i++) text += reader.readText()
  return text
}
