import { CborReader, Major } from '../../cbor/reader.js'

/** Bytes that one string of metadata may have. */
const MAX_STRING = 64
/** The auxiliary data of Alonzo and later eras, a map, stands behind this tag. */
const ALONZO_TAG = 259

/** Whether all strings in the metadata of decoded auxiliary data are within 64 bytes. The CDDL has three forms of it. */
export function metadataIsValid(auxiliaryData: Uint8Array): boolean {
  const reader = new CborReader(auxiliaryData)
  const major = reader.peekMajor()
  if (major === Major.map) return stringsAreShort(reader)
  if (major === Major.array) {
    reader.readArray()
    return stringsAreShort(reader)
  }
  if (reader.readTag() !== ALONZO_TAG) return false
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i += 1) {
    const isMetadata = reader.readUint() === 0
    if (isMetadata) return stringsAreShort(reader)
    reader.skip()
  }
  return true
}

/** Walks one item; its depth is bounded since decoding has passed over it already. */
function stringsAreShort(reader: CborReader): boolean {
  switch (reader.peekMajor()) {
    case Major.bytes:
    case Major.text:
      return stringIsShort(reader)
    case Major.array: {
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i += 1) if (!stringsAreShort(reader)) return false
      return true
    }
    case Major.map: {
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i += 1) {
        if (!stringsAreShort(reader) || !stringsAreShort(reader)) return false
      }
      return true
    }
    default:
      reader.skip()
      return true
  }
}

/** A string in chunks is as long as its chunks together. */
function stringIsShort(reader: CborReader): boolean {
  const indefinite = (reader.peek() & 0x1f) === 31
  if (!indefinite) return chunkSize(reader) <= MAX_STRING
  const start = reader.position
  reader.skip()
  const chunks = new CborReader(reader.bytes, start + 1, reader.position)
  let size = 0
  for (let i = 0; chunks.hasNext(-1, i); i += 1) size += chunkSize(chunks)
  return size <= MAX_STRING
}

function chunkSize(reader: CborReader): number {
  const start = reader.position
  const info = reader.peek() & 0x1f
  reader.skip()
  const head = info < 24 ? 1 : 1 + (1 << (info - 24))
  return reader.position - start - head
}
