import { type CborReader, readEncoded, readRecord } from '@ratatosk/cbor'
import { type Demand, listOf, nested } from './items.js'

/** Bytes of a string of Plutus data, or of a part of one. */
const maxPart = 64

/** Plutus data, as the ledger reads them. */
export const plutusData: Demand = nested(data)

export const nativeScript: Demand = nested(native)

/** The bytes of a Plutus script: rules judge them, no grammar does. */
export const plutusScript: Demand = (reader) => void reader.readBytes()

/** A script that an output carries: `24(bytes .cbor [language, script])`. */
export const scriptReference: Demand = (reader) => {
  readEncoded(reader, (inner) => {
    readRecord(inner, 2, (pair) => {
      const start = pair.position
      const language = pair.readUint()
      if (language > 3) throw pair.error('CBOR_UNKNOWN_VARIANT', `a script of language ${language}`, start)
      if (language === 0) nativeScript(pair)
      else plutusScript(pair)
    })
  })
}

function data(reader: CborReader): void {
  const major = reader.peekMajor()
  if (major < 2) reader.skip()
  else if (major === 2) byteString(reader)
  else if (major === 4) listOf(data)(reader)
  else if (major === 5) {
    const count = reader.readMap()
    for (let index = 0; reader.hasNext(count, index); index++) {
      data(reader)
      data(reader)
    }
  } else if (major === 6) tagged(reader)
  else throw reader.unexpected('Plutus data')
}

function tagged(reader: CborReader): void {
  const start = reader.position
  const initial = reader.peek()
  const tag = reader.readTag()
  // A bignum, whose tag takes one byte.
  if (initial === 0xc2 || initial === 0xc3) byteString(reader)
  else if ((tag >= 121 && tag <= 127) || (tag >= 1280 && tag <= 1400)) listOf(data)(reader)
  else if (tag === 102)
    readRecord(reader, 2, (pair) => {
      pair.readUint64()
      listOf(data)(pair)
    })
  else throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, start)
}

function byteString(reader: CborReader): void {
  if (!reader.tryIndefinite(2)) {
    part(reader)
    return
  }
  while (reader.hasNext(-1, 0)) part(reader)
}

function part(reader: CborReader): void {
  const start = reader.position
  const { length } = reader.readBytes()
  if (length > maxPart) throw reader.error('CBOR_OUT_OF_RANGE', `${length} bytes in one part`, start)
}

/** The items after the number of each kind of native script. */
const kinds: readonly Demand[] = [
  (reader) => void reader.readBytesOf(28),
  listOf(native),
  listOf(native),
  (reader) => {
    reader.readInt64()
    listOf(native)(reader)
  },
  (reader) => void reader.readUint64(),
  (reader) => void reader.readUint64(),
]

function native(reader: CborReader): void {
  const start = reader.position
  const count = reader.readArray()
  const kind = reader.readUint()
  const demand = kinds[kind]
  if (demand === undefined)
    throw reader.error('CBOR_UNKNOWN_VARIANT', `a native script of kind ${kind}`, start)
  demand(reader)
  reader.leaveArray(count, kind === 3 ? 3 : 2, start)
}
