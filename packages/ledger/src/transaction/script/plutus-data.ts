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
  // Checks the depth and that the item is well-formed.
  reader.skip()
  checkData(reader.within(start, reader.position))
  return reader.since(start)
}

/** A list or map that is being read; of a constructor in the general form, also its array. */
interface Opened {
  readonly kind: 'list' | 'map'
  readonly count: number
  /** Items read; of a map, keys and values. */
  items: number
  readonly general?: { readonly count: number; readonly start: number }
}

/** The open parts are in an array, not on the stack: layer 1 does not limit their depth. */
function checkData(reader: CborReader): void {
  const open: Opened[] = []
  do {
    begin(reader, open)
    for (let inner = open.at(-1); inner !== undefined && !hasMore(reader, inner); inner = open.at(-1)) {
      open.pop()
      if (inner.general) reader.leaveArray(inner.general.count, 2, inner.general.start)
    }
  } while (open.length > 0)
}

function hasMore(reader: CborReader, inner: Opened): boolean {
  const { kind, count, items } = inner
  const hasNext =
    kind === 'map' ? items % 2 === 1 || reader.hasNext(count, items / 2) : reader.hasNext(count, items)
  inner.items++
  return hasNext
}

/** Reads data without parts, or opens what has them. */
function begin(reader: CborReader, open: Opened[]): void {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      reader.skip()
      return
    case Major.bytes:
      checkBytes(reader)
      return
    case Major.array:
      open.push({ kind: 'list', count: reader.readArray(), items: 0 })
      return
    case Major.map:
      open.push({ kind: 'map', count: reader.readMap(), items: 0 })
      return
    case Major.tag:
      beginTagged(reader, open)
      return
    default:
      throw reader.unexpected('Plutus data')
  }
}

function beginTagged(reader: CborReader, open: Opened[]): void {
  const start = reader.position
  const initial = reader.peek()
  const tag = reader.readTag()
  if (initial === 0xc2 || initial === 0xc3) {
    if (reader.peekMajor() !== Major.bytes) throw reader.unexpected('the bytes of a bignum')
    checkBytes(reader)
  } else if ((tag >= 121 && tag <= 127) || (tag >= 1280 && tag <= 1400)) {
    open.push({ kind: 'list', count: reader.readArray(), items: 0 })
  } else if (tag === 102) {
    const general = { start: reader.position, count: reader.readArray() }
    reader.readUint64()
    open.push({ kind: 'list', count: reader.readArray(), items: 0, general })
  } else {
    throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, start)
  }
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
