import { CborReader, Major, toHex } from '@ratatosk/cbor'

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
