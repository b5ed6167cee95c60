import { bigintOf, type CborReader, CborWriter, concatBytes, equalBytes, Major } from '@ratatosk/cbor'
import { cons, type LinkedList, listOf } from './list.js'

export interface Pair<First, Second> {
  readonly first: First
  readonly second: Second
}

/** Plutus data. Its depth can exceed the call stack, so functions that traverse it use an explicit stack. */
export type DataValue =
  | { readonly kind: 'constructor'; readonly index: bigint; readonly fields: LinkedList<DataValue> }
  | { readonly kind: 'map'; readonly entries: LinkedList<Pair<DataValue, DataValue>> }
  | { readonly kind: 'list'; readonly items: LinkedList<DataValue> }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }

export function constructorData(index: number, fields: readonly DataValue[] = []): DataValue {
  return { kind: 'constructor', index: BigInt(index), fields: listOf(fields) }
}

export function listData(items: readonly DataValue[]): DataValue {
  return { kind: 'list', items: listOf(items) }
}

export function mapData(entries: readonly (readonly [DataValue, DataValue])[]): DataValue {
  return { kind: 'map', entries: listOf(entries.map(([first, second]) => ({ first, second }))) }
}

export function integerData(value: bigint | number): DataValue {
  return { kind: 'integer', value: BigInt(value) }
}

export function bytesData(value: Uint8Array): DataValue {
  return { kind: 'bytes', value }
}

/** Nodes that are the same object are equal, because data is immutable. */
export function equalData(left: DataValue, right: DataValue): boolean {
  let open: LinkedList<Pair<DataValue, DataValue>> = cons({ first: left, second: right }, null)
  while (open !== null) {
    const { first: a, second: b } = open.head
    open = open.tail
    if (a === b) continue
    if (a.kind === 'integer') {
      if (b.kind !== 'integer' || a.value !== b.value) return false
    } else if (a.kind === 'bytes') {
      if (b.kind !== 'bytes' || !equalBytes(a.value, b.value)) return false
    } else if (a.kind === 'map') {
      if (b.kind !== 'map' || a.entries?.length !== b.entries?.length) return false
      for (let x = a.entries, y = b.entries; x !== null && y !== null; x = x.tail, y = y.tail) {
        open = cons({ first: x.head.second, second: y.head.second }, open)
        open = cons({ first: x.head.first, second: y.head.first }, open)
      }
    } else {
      if (b.kind !== a.kind || (a.kind === 'constructor' && !sameIndex(a, b))) return false
      const these = a.kind === 'constructor' ? a.fields : a.items
      const those = b.kind === 'constructor' ? b.fields : b.kind === 'list' ? b.items : null
      if (these?.length !== those?.length) return false
      for (let x = these, y = those; x !== null && y !== null; x = x.tail, y = y.tail) {
        open = cons({ first: x.head, second: y.head }, open)
      }
    }
  }
  return true
}

function sameIndex(a: DataValue, b: DataValue): boolean {
  return a.kind === 'constructor' && b.kind === 'constructor' && a.index === b.index
}

/** A list, map or constructor whose items are being read. */
interface Opened {
  readonly kind: 'list' | 'map' | 'constructor'
  readonly count: number
  readonly items: DataValue[]
  readonly index: bigint
  /** Number of items of a general form's list, and where it begins. */
  readonly general?: { readonly count: number; readonly start: number }
}

/**
 * Decodes Plutus data at any depth: the open parts are in a list, not on the stack.
 * Compact constructor tags: 121–127 are 0–6, 1280–1400 are 7–127, 102 holds any other.
 *
 * @throws {DecodeError} if the next item is not Plutus data; chunks of strings may have any length
 */
export function decodeData(reader: CborReader): DataValue {
  const open: Opened[] = []
  for (;;) {
    let value = begin(reader, open)
    for (;;) {
      const inner = open.at(-1)
      if (value !== undefined) {
        if (inner === undefined) return value
        inner.items.push(value)
        value = undefined
      }
      if (inner === undefined || hasMore(reader, inner)) break
      open.pop()
      value = closed(reader, inner)
    }
  }
}

/** Reads data without parts, or opens what has them. */
function begin(reader: CborReader, open: Opened[]): DataValue | undefined {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return { kind: 'integer', value: reader.readInt() }
    case Major.bytes:
      return bytesData(readChunks(reader))
    case Major.array:
      open.push({ kind: 'list', count: reader.readArray(), items: [], index: 0n })
      return undefined
    case Major.map:
      open.push({ kind: 'map', count: reader.readMap(), items: [], index: 0n })
      return undefined
    case Major.tag:
      return beginTagged(reader, open)
    default:
      throw reader.unexpected('Plutus data')
  }
}

function beginTagged(reader: CborReader, open: Opened[]): DataValue | undefined {
  const place = reader.position
  const tag = reader.readTag()
  if (tag === 2) return { kind: 'integer', value: bigintOf(readChunks(reader)) }
  if (tag === 3) return { kind: 'integer', value: -1n - bigintOf(readChunks(reader)) }
  if (tag === 102) {
    const general = { start: reader.position, count: reader.readArray() }
    const index = reader.readUint64()
    open.push({ kind: 'constructor', index, count: reader.readArray(), items: [], general })
    return undefined
  }
  if (!((tag >= 121 && tag <= 127) || (tag >= 1280 && tag <= 1400)))
    throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${tag} in Plutus data`, place)
  const index = BigInt(tag < 1280 ? tag - 121 : tag - 1280 + 7)
  open.push({ kind: 'constructor', index, count: reader.readArray(), items: [] })
  return undefined
}

function hasMore(reader: CborReader, { kind, count, items }: Opened): boolean {
  if (kind !== 'map') return reader.hasNext(count, items.length)
  return items.length % 2 === 1 || reader.hasNext(count, items.length / 2)
}

function closed(reader: CborReader, { kind, items, index, general }: Opened): DataValue {
  if (general !== undefined) reader.leaveArray(general.count, 2, general.start)
  if (kind === 'list') return { kind, items: listOf(items) }
  if (kind === 'constructor') return { kind, index, fields: listOf(items) }
  const entries: Pair<DataValue, DataValue>[] = []
  for (let place = 0; place < items.length; place += 2)
    entries.push({ first: items[place] as DataValue, second: items[place + 1] as DataValue })
  return { kind, entries: listOf(entries) }
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
