import { type CborReader, expectTag, readMapOf, readRecord } from '@ratatosk/cbor'
import { type Demand, fieldsOf, listOf, nested } from './items.js'
import { nativeScript, plutusScript } from './scripts.js'

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
