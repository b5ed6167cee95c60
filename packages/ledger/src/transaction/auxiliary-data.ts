import { CborReader, expectTag, located, Major, readList, readMapOf, readRecord } from '@ratatosk/cbor'
import { readNative, readPlutus } from './script/script.js'
import type { AuxiliaryData, Script } from './types.js'

const auxiliaryDataTag = 259
/** Maximum size of a byte string or text in metadata, in bytes. */
const maxStringSize = 64

/** Decodes auxiliary data: Shelley's map, Allegra's array, or the tagged map since Alonzo. */
export function readAuxiliaryData(reader: CborReader): AuxiliaryData {
  const start = reader.position
  const scripts: Script[] = []
  const major = reader.peekMajor()
  if (major === Major.map) {
    readMetadata(reader)
  } else if (major === Major.array) {
    readRecord(reader, 2, (inner) => {
      readMetadata(inner)
      scripts.push(...readList(inner, readNative))
    })
  } else {
    expectTag(reader, auxiliaryDataTag)
    readFields(reader, scripts)
  }
  return { bytes: reader.since(start), scripts }
}

const fields = new Map<number, readonly [name: string, read: (reader: CborReader) => readonly Script[]]>([
  [0, ['metadata', readMetadata]],
  [1, ['nativeScripts', (reader) => readList(reader, readNative)]],
  [2, ['plutusV1Scripts', (reader) => readList(reader, (script) => readPlutus(script, 'PlutusV1'))]],
  [3, ['plutusV2Scripts', (reader) => readList(reader, (script) => readPlutus(script, 'PlutusV2'))]],
  [4, ['plutusV3Scripts', (reader) => readList(reader, (script) => readPlutus(script, 'PlutusV3'))]],
])

function readFields(reader: CborReader, scripts: Script[]): void {
  const count = reader.readMap()
  const seen = new Set<number>()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = reader.readUint()
    const field = fields.get(key)
    if (field === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`, start)
    if (seen.has(key)) throw reader.error('CBOR_DUPLICATE', `a repeated field ${key}`, start)
    seen.add(key)
    const [name, read] = field
    try {
      scripts.push(...read(reader))
    } catch (error) {
      throw located(error, name)
    }
  }
}

/** Validates `label → metadatum`. Labels are unique. */
function readMetadata(reader: CborReader): readonly [] {
  readMapOf(reader, (inner) => inner.readUint64(), readMetadatum)
  return []
}

/** Validates one metadatum. Its depth is limited in any reader, which limits the recursion below. */
function readMetadatum(reader: CborReader): void {
  const bounded = new CborReader(reader.bytes, reader.position, reader.end)
  bounded.skip()
  checkMetadatum(bounded.within(reader.position, bounded.position))
  reader.position = bounded.position
}

/** Accepts 64-bit integers plus sign, bytes and texts of up to 64 bytes, lists, maps (keys may repeat). */
function checkMetadatum(reader: CborReader): void {
  const major = reader.peekMajor()
  switch (major) {
    case Major.unsigned:
    case Major.negative:
      reader.skip()
      return
    case Major.bytes:
    case Major.text:
      checkString(reader, major)
      return
    case Major.array: {
      const count = reader.readArray()
      for (let i = 0; reader.hasNext(count, i); i++) checkMetadatum(reader)
      return
    }
    case Major.map: {
      const count = reader.readMap()
      for (let i = 0; reader.hasNext(count, i); i++) {
        checkMetadatum(reader)
        checkMetadatum(reader)
      }
      return
    }
    default:
      throw reader.unexpected('a metadatum')
  }
}

/** The limit applies to the sum of all chunks. Each chunk of a text must be valid UTF-8. */
function checkString(reader: CborReader, major: typeof Major.bytes | typeof Major.text): void {
  const start = reader.position
  const readLength = (): number => (major === Major.bytes ? reader.readBytes() : reader.readUtf8()).length
  let length = 0
  if (reader.tryIndefinite(major)) {
    for (let i = 0; reader.hasNext(-1, i); i++) length += readLength()
  } else {
    length = readLength()
  }
  if (length > maxStringSize) {
    throw reader.error('CBOR_OUT_OF_RANGE', `${length} bytes of metadata in one string, more than 64`, start)
  }
}

/**
 * The metadata of a transaction by label, each value as CBOR. Auxiliary data has three formats: a metadata
 * map (Shelley), an array of metadata and scripts (Allegra), or a tagged map with the metadata under key 0
 * (Alonzo).
 */
export function metadataLabels({
  bytes,
}: AuxiliaryData): { readonly label: bigint; readonly cbor: Uint8Array }[] {
  const reader = new CborReader(bytes)
  if (reader.peekMajor() === Major.map) return readLabels(reader)
  if (reader.peekMajor() === Major.array) {
    reader.readArray()
    return readLabels(reader)
  }
  reader.readTag()
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) {
    if (reader.readUint() === 0) return readLabels(reader)
    reader.skip()
  }
  return []
}

function readLabels(reader: CborReader): { label: bigint; cbor: Uint8Array }[] {
  const labels: { label: bigint; cbor: Uint8Array }[] = []
  const count = reader.readMap()
  for (let i = 0; reader.hasNext(count, i); i++) {
    const label = reader.readInteger()
    const start = reader.position
    reader.skip()
    labels.push({ label, cbor: reader.since(start) })
  }
  return labels
}
