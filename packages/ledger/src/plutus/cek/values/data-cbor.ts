import { bigintOf, type CborReader, CborWriter, concatBytes, Major } from '@ratatosk/cbor'
import { bytesData, type DataValue, type Pair } from './data.js'
import { type LinkedList, listOf } from './list.js'

/**
 * Decodes Plutus data that `readPlutusData` has validated (it limits the depth).
 * Compact constructor tags: 121–127 are 0–6, 1280–1400 are 7–127, 102 holds any other.
 */
export function decodeData(reader: CborReader): DataValue {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return { kind: 'integer', value: reader.readInt() }
    case Major.bytes:
      return bytesData(readChunks(reader))
    case Major.array:
      return { kind: 'list', items: decodeItems(reader) }
    case Major.map: {
      const count = reader.readMap()
      const entries: Pair<DataValue, DataValue>[] = []
      while (reader.hasNext(count, entries.length)) {
        const first = decodeData(reader)
        entries.push({ first, second: decodeData(reader) })
      }
      return { kind: 'map', entries: listOf(entries) }
    }
    default:
      return decodeTagged(reader)
  }
}

function decodeTagged(reader: CborReader): DataValue {
  const tag = reader.readTag()
  if (tag === 2) return { kind: 'integer', value: bigintOf(readChunks(reader)) }
  if (tag === 3) return { kind: 'integer', value: -1n - bigintOf(readChunks(reader)) }
  if (tag !== 102) {
    const index = BigInt(tag < 1280 ? tag - 121 : tag - 1280 + 7)
    return { kind: 'constructor', index, fields: decodeItems(reader) }
  }
  const count = reader.readArray()
  const index = reader.readUint64()
  const fields = decodeItems(reader)
  reader.hasNext(count, 2)
  return { kind: 'constructor', index, fields }
}

function decodeItems(reader: CborReader): LinkedList<DataValue> {
  const count = reader.readArray()
  const items: DataValue[] = []
  while (reader.hasNext(count, items.length)) items.push(decodeData(reader))
  return listOf(items)
}

function readChunks(reader: CborReader): Uint8Array {
  if (!reader.tryIndefinite(Major.bytes)) return reader.readBytes()
  const chunks: Uint8Array[] = []
  while (reader.hasNext(-1, chunks.length)) chunks.push(reader.readBytes())
  return concatBytes(...chunks)
}

/** Marks on the stack the end of a list of indefinite length. */
const end = Symbol('break')

/**
 * Encodes data as `serialiseData`: lists and fields indefinite unless empty, maps definite, byte strings of
 * more than 64 bytes in chunks of 64.
 */
export function encodeData(data: DataValue): Uint8Array {
  const writer = new CborWriter()
  const open: (DataValue | typeof end)[] = [data]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === end) writer.break()
    else if (next.kind === 'integer') writer.int(next.value)
    else if (next.kind === 'bytes') writer.boundedBytes(next.value)
    else if (next.kind === 'list') openList(writer, open, next.items)
    else if (next.kind === 'constructor') openConstructor(writer, open, next.index, next.fields)
    else {
      writer.map(next.entries?.length ?? 0)
      const items: DataValue[] = []
      for (let cell = next.entries; cell !== null; cell = cell.tail)
        items.push(cell.head.first, cell.head.second)
      pushReversed(open, items)
    }
  }
  return writer.toBytes()
}

function openConstructor(
  writer: CborWriter,
  open: (DataValue | typeof end)[],
  index: bigint,
  fields: LinkedList<DataValue>,
): void {
  if (index >= 0n && index < 7n) writer.tag(121 + Number(index))
  else if (index >= 0n && index < 128n) writer.tag(1280 + Number(index) - 7)
  else writer.tag(102).array(2).int(index)
  openList(writer, open, fields)
}

function openList(writer: CborWriter, open: (DataValue | typeof end)[], list: LinkedList<DataValue>): void {
  if (list === null) {
    writer.array(0)
    return
  }
  writer.indefiniteArray()
  open.push(end)
  const items: DataValue[] = []
  for (let cell: LinkedList<DataValue> = list; cell !== null; cell = cell.tail) items.push(cell.head)
  pushReversed(open, items)
}

function pushReversed(open: (DataValue | typeof end)[], items: readonly DataValue[]): void {
  for (let i = items.length - 1; i >= 0; i--) open.push(items[i] as DataValue)
}
