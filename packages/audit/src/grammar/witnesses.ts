import {
  type CborReader,
  expectTag,
  isShortMap,
  readEncoded,
  readMapOf,
  readRecord,
  toHex,
} from '@ratatosk/cbor'
import { type Demand, distinct, eachOf, executionUnits, fieldsOf, listOf, nested } from './items.js'

/** Bytes of a string of Plutus data, or of a part of one. */
const maxPart = 64

/** Plutus data, as the ledger reads them. */
export const plutusData: Demand = nested(data)

const nativeScript: Demand = nested(native)

/** The bytes of a Plutus script: rules judge them, no grammar does. */
const plutusScript: Demand = (reader) => void reader.readBytes()

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

const keyWitness: Demand = (reader) => {
  readRecord(reader, 2, (pair) => {
    pair.readBytesOf(32)
    pair.readBytesOf(64)
  })
}

const bootstrapWitness: Demand = (reader) => {
  readRecord(reader, 4, (inner) => {
    inner.readBytesOf(32)
    inner.readBytesOf(64)
    inner.readBytes()
    inner.readBytes()
  })
}

const plutusScripts = distinct((reader) => toHex(reader.readBytes()))

/** A witness set of the Conway era: collections that are there have members. */
export const witnessSet: Demand = fieldsOf({
  0: eachOf(keyWitness),
  1: eachOf(nativeScript),
  2: eachOf(bootstrapWitness),
  3: plutusScripts,
  4: eachOf(plutusData),
  5: redeemers,
  6: plutusScripts,
  7: plutusScripts,
})

function redeemers(reader: CborReader): void {
  const start = reader.position
  let count = 0
  if (isShortMap(reader)) {
    const length = reader.readMap()
    for (; reader.hasNext(length, count); count++) {
      readRecord(reader, 2, pointer)
      const pair = reader.position
      if (reader.readArray() !== 2)
        throw reader.error('CBOR_UNEXPECTED_SIZE', 'not a definite array of two items', pair)
      content(reader)
    }
  } else
    listOf((item) => {
      count++
      readRecord(item, 4, (redeemer) => {
        pointer(redeemer)
        content(redeemer)
      })
    })(reader)
  if (count === 0) throw reader.error('CBOR_EMPTY', 'an empty collection', start)
}

function pointer(reader: CborReader): void {
  const start = reader.position
  const purpose = reader.readUint()
  if (purpose > 5) throw reader.error('CBOR_UNKNOWN_VARIANT', `a redeemer of purpose ${purpose}`, start)
  reader.readUint(0xffff_ffff)
}

function content(reader: CborReader): void {
  plutusData(reader)
  readRecord(reader, 2, (units) => {
    executionUnits(units)
    executionUnits(units)
  })
}

/** Bytes of a string of metadata. */
const maxString = 64

const metadata: Demand = (reader) => void readMapOf(reader, (key) => key.readUint64(), nested(metadatum))

const fields = fieldsOf({
  0: metadata,
  1: listOf(nativeScript),
  2: listOf(plutusScript),
  3: listOf(plutusScript),
  4: listOf(plutusScript),
})

/** Auxiliary data in the forms of Shelley, Allegra and Alonzo. */
export const auxiliaryData: Demand = (reader) => {
  const major = reader.peekMajor()
  if (major === 5) metadata(reader)
  else if (major === 4)
    readRecord(reader, 2, (pair) => {
      metadata(pair)
      listOf(nativeScript)(pair)
    })
  else {
    expectTag(reader, 259)
    fields(reader)
  }
}

function metadatum(reader: CborReader): void {
  const major = reader.peekMajor()
  if (major < 2) reader.skip()
  else if (major < 4) string(reader, major)
  else if (major === 4) listOf(metadatum)(reader)
  else if (major === 5) {
    const count = reader.readMap()
    for (let index = 0; reader.hasNext(count, index); index++) {
      metadatum(reader)
      metadatum(reader)
    }
  } else throw reader.unexpected('metadata')
}

/** The limit is of all parts together; each part of a text is UTF-8. */
function string(reader: CborReader, major: number): void {
  const start = reader.position
  const part = (): number => (major === 2 ? reader.readBytes() : reader.readUtf8()).length
  let length = 0
  if (reader.tryIndefinite(major)) while (reader.hasNext(-1, 0)) length += part()
  else length = part()
  if (length > maxString) throw reader.error('CBOR_OUT_OF_RANGE', `${length} bytes in one string`, start)
}
