import { bigintOf, CborReader, CborWriter, concatBytes, isDecodeError, Major } from '@ratatosk/cbor'
import { PlutusDataError } from '@ratatosk/ledger/plutus-data'

/** CBOR tags of the constructors 0 to 6, 7 to 127, and of the general form `[index, fields]`. */
const compactTags = [
  { first: 121, last: 127 },
  { first: 1280, last: 1400 },
] as const
const generalTag = 102
const generalTagIndex = 128n
/** Initial bytes of bignums. */
const positive = 0xc2
const negative = 0xc3

/**
 * Any Plutus data as the builtin `serialiseData` writes it, so that hashes equal those that validators
 * compute. It may be nested up to 1,024 levels of CBOR.
 *
 * @param cbor in any encoding that the ledger accepts
 * @throws {PlutusDataError} if the bytes are not Plutus data
 */
export const serialised = (cbor: Uint8Array): Uint8Array =>
  reading(() => {
    // Checks the depth first, which limits the recursion below.
    new CborReader(cbor).skip()
    const reader = new CborReader(cbor)
    const writer = new CborWriter(cbor.length + 64)
    copy(reader, writer)
    reader.assertEnd()
    return writer.toBytes()
  })

/** @throws {PlutusDataError} instead of the reader's error */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new PlutusDataError(error.message, { cause: error })
  }
}

function copy(reader: CborReader, writer: CborWriter): void {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      writer.int(reader.readInt())
      return
    case Major.bytes:
      writer.boundedBytes(readChunks(reader))
      return
    case Major.array:
      copyList(reader, writer)
      return
    case Major.map:
      copyMap(reader, writer)
      return
    case Major.tag:
      copyTagged(reader, writer)
      return
    default:
      throw reader.unexpected('Plutus data')
  }
}

function copyList(reader: CborReader, writer: CborWriter): void {
  const count = reader.readArray()
  if (!reader.hasNext(count, 0)) {
    writer.array(0)
    return
  }
  writer.indefiniteArray()
  let copied = 0
  do copy(reader, writer)
  while (reader.hasNext(count, ++copied))
  writer.break()
}

function copyMap(reader: CborReader, writer: CborWriter): void {
  const count = reader.readMap()
  const entries = new CborWriter()
  let copied = 0
  for (; reader.hasNext(count, copied); copied++) {
    copy(reader, entries)
    copy(reader, entries)
  }
  writer.map(copied).raw(entries.toBytes())
}

function copyTagged(reader: CborReader, writer: CborWriter): void {
  const start = reader.position
  const initial = reader.peek()
  const tag = reader.readTag()
  if (initial === positive || initial === negative) {
    const magnitude = bigintOf(readChunks(reader))
    writer.int(initial === positive ? magnitude : -1n - magnitude)
  } else if (tag === generalTag) {
    const arrayStart = reader.position
    const count = reader.readArray()
    const index = reader.readUint64()
    if (index < generalTagIndex) writer.tag(index < 7n ? 121 + Number(index) : 1280 + Number(index) - 7)
    else writer.tag(generalTag).array(2).uint(index)
    copyList(reader, writer)
    reader.leaveArray(count, 2, arrayStart)
  } else if (compactTags.some(({ first, last }) => tag >= first && tag <= last)) {
    writer.tag(tag)
    copyList(reader, writer)
  } else throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, start)
}

function readChunks(reader: CborReader): Uint8Array {
  if (!reader.tryIndefinite(Major.bytes)) return reader.readBytes()
  const chunks: Uint8Array[] = []
  while (reader.hasNext(-1, chunks.length)) chunks.push(reader.readBytes())
  return concatBytes(...chunks)
}
