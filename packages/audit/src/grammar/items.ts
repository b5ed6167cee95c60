import { CborReader, defaultLimits } from '@ratatosk/cbor'

/** Reads an item and keeps nothing of it. @throws DecodeError */
export type Demand = (reader: CborReader) => void

/** The ledger reads no number of a script's costs beyond. */
const maxInt64 = 2n ** 63n - 1n

/** A reader of the bytes with the limits of the ledger, which are narrower than those of a body. */
export const ledgerReader = (bytes: Uint8Array): CborReader =>
  new CborReader(bytes, 0, bytes.length, defaultLimits)

/** Demands of every item of an array, or of a set; an empty one is refused unless `mayBeEmpty`. */
export function eachOf(demand: Demand, { mayBeEmpty = false } = {}): Demand {
  return (reader) => {
    const start = reader.position
    if (reader.peekMajor() === 6 && reader.readTag() !== 258)
      throw reader.error('CBOR_UNEXPECTED_TAG', 'another tag than that of a set', start)
    listOf(demand)(reader)
    if (!mayBeEmpty && isEmpty(reader, start)) throw reader.error('CBOR_EMPTY', 'an empty collection', start)
  }
}

/** Demands of every item of an array, which may be empty and has no tag. */
export function listOf(demand: Demand): Demand {
  return (reader) => {
    const count = reader.readArray()
    for (let index = 0; reader.hasNext(count, index); index++) demand(reader)
  }
}

/** The same, and that no two members have the same text. */
export function distinct(textOf: (reader: CborReader) => string): Demand {
  return (reader) => {
    const seen = new Set<string>()
    eachOf((item) => {
      const start = item.position
      const text = textOf(item)
      if (seen.has(text)) throw item.error('CBOR_DUPLICATE', 'a member that occurs twice', start)
      seen.add(text)
    })(reader)
  }
}

/** Demands of the entries of a map by number, each at most once; an unknown number is refused. */
export function fieldsOf(fields: Readonly<Record<number, Demand>>): Demand {
  return (reader) => {
    const count = reader.readMap()
    const seen = new Set<number>()
    for (let index = 0; reader.hasNext(count, index); index++) {
      const start = reader.position
      const key = reader.readUint()
      const demand = fields[key]
      if (demand === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown field ${key}`, start)
      if (seen.has(key)) throw reader.error('CBOR_DUPLICATE', `field ${key} occurs twice`, start)
      seen.add(key)
      demand(reader)
    }
  }
}

/** A number of 64 bits whose sign takes one. */
export const executionUnits: Demand = (reader) => {
  const start = reader.position
  if (reader.readUint64() > maxInt64)
    throw reader.error('CBOR_OUT_OF_RANGE', 'execution units over 63 bits', start)
}

/** Demands of an item whose nesting the ledger limits; it is walked before, so they may recurse. */
export function nested(demand: Demand): Demand {
  return (reader) => {
    const start = reader.position
    reader.skip()
    demand(reader.within(start, reader.position))
  }
}

function isEmpty(reader: CborReader, start: number): boolean {
  const again = reader.within(start, reader.position)
  if (again.peekMajor() === 6) again.readTag()
  return !again.hasNext(again.readArray(), 0)
}
