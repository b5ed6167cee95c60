import { type CborReader, Major } from '@ratatosk/cbor'

/** Maximum size of a byte string, or of a chunk of one, in Plutus data. */
const maxChunk = 64

/**
 * Validates and skips one item of Plutus data, by the rules of plutus-core's decoder: integers (also bignums
 * in chunks), byte strings in chunks of at most 64 bytes, lists, maps (keys may repeat), constructors with
 * the tags 121–127, 1280–1400 and 102. Returns a view of the item.
 */
export function readPlutusData(reader: CborReader): Uint8Array {
  const start = reader.position
  // Checks the depth first, which limits the recursion below.
  reader.skip()
  checkData(reader.within(start, reader.position))
  return reader.since(start)
}

function checkData(reader: CborReader): void {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      reader.skip()
      return
    case Major.bytes:
      checkBytes(reader)
      return
    case Major.array:
      checkList(reader)
      return
    case Major.map: {
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) {
        checkData(reader)
        checkData(reader)
      }
      return
    }
    case Major.tag:
      checkTagged(reader)
      return
    default:
      throw reader.unexpected('Plutus data')
  }
}

function checkTagged(reader: CborReader): void {
  const start = reader.position
  const initial = reader.peek()
  const tag = reader.readTag()
  if (initial === 0xc2 || initial === 0xc3) {
    if (reader.peekMajor() !== Major.bytes) throw reader.unexpected('the bytes of a bignum')
    checkBytes(reader)
  } else if ((tag >= 121 && tag <= 127) || (tag >= 1280 && tag <= 1400)) {
    checkList(reader)
  } else if (tag === 102) {
    const arrayStart = reader.position
    const count = reader.readArray()
    reader.readUint64()
    checkList(reader)
    reader.leaveArray(count, 2, arrayStart)
  } else {
    throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, start)
  }
}

function checkList(reader: CborReader): void {
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i++) checkData(reader)
}

function checkBytes(reader: CborReader): void {
  if (reader.tryIndefinite(Major.bytes)) {
    for (let i = 0; reader.hasNext(-1, i); i++) checkChunk(reader)
  } else {
    checkChunk(reader)
  }
}

function checkChunk(reader: CborReader): void {
  const start = reader.position
  const length = reader.readBytes().length
  if (length > maxChunk)
    throw reader.error('CBOR_OUT_OF_RANGE', `${length} bytes in one chunk, more than 64`, start)
}
