import { concatBytes, fromHex } from '@ratatosk/cbor'
import type { DataValue, LinkedList } from '@ratatosk/ledger/plutus-data'

/** Draws one of `count` choices; the first is the common one. */
export type Draw = (count: number) => number

/** Numbers by seed (mulberry32), so that a failure can be repeated. */
export function drawing(seed: number): Draw {
  let state = seed
  return (count) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

/** As many items as there may be, at random, in their order. */
export function some<T>(items: readonly T[], most: number, draw: Draw): T[] {
  const rest = [...items]
  while (rest.length > most) rest.splice(draw(rest.length), 1)
  return rest
}

/** Bytes with one exchanged, removed, inserted or repeated, or a part of them moved. */
export function mutatedBytes(bytes: Uint8Array, draw: Draw): Uint8Array {
  const place = draw(bytes.length)
  const length = 1 + draw(draw(4) === 0 ? 40 : 2)
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  const heads = [0x00, 0x18, 0x20, 0x40, 0x58, 0x5f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xd9, 0xf6, 0xff]
  switch (draw(5)) {
    case 0:
      return bytes.with(place, draw(256))
    case 1:
      return bytes.with(place, heads[draw(heads.length)]!)
    case 2:
      return Uint8Array.of(...before, ...after.subarray(length))
    case 3:
      return Uint8Array.of(...before, heads[draw(heads.length)]!, ...after)
    default:
      return Uint8Array.of(...before, ...bytes.subarray(place, place + length), ...after)
  }
}

/** Bytes in a string of Plutus data without chunks, or in one of its chunks. */
const maxChunk = 64
const breakByte = Uint8Array.of(0xff)

/**
 * Plutus data in one of the encodings that the ledger has of it.
 *
 * @param forScalus without constructors in general form in lists of indefinite length, which it does not read
 */
export function encodedAnyhow(data: DataValue, draw: Draw, forScalus = false): Uint8Array {
  const encoded = (item: DataValue): Uint8Array => encodedAnyhow(item, draw, forScalus)
  const list = (items: LinkedList<DataValue>): Uint8Array =>
    sequence(4, arrayOf(items).map(encoded), draw(2) === 0, draw)
  if (data.kind === 'integer') return integer(data.value, draw)
  if (data.kind === 'bytes') return string(data.value, draw)
  if (data.kind === 'list') return list(data.items)
  if (data.kind === 'map') {
    const entries = arrayOf(data.entries).map(({ first, second }) =>
      concatBytes(encoded(first), encoded(second)),
    )
    return sequence(5, entries, draw(2) === 0, draw)
  }
  const { index, fields } = data
  if (index > 127n || draw(3) === 0) {
    const parts = [head(0, index, draw), list(fields)]
    return concatBytes(head(6, 102n, draw), sequence(4, parts, !forScalus && draw(2) === 0, draw))
  }
  return concatBytes(head(6, index < 7n ? 121n + index : 1273n + index, draw), list(fields))
}

export function arrayOf<Item>(list: LinkedList<Item>): Item[] {
  const items: Item[] = []
  for (let cell = list; cell !== null; cell = cell.tail) items.push(cell.head)
  return items
}

/** A head of a type, with an argument of any width that holds it. */
function head(major: number, value: bigint, draw: Draw): Uint8Array {
  const least = value < 24n ? 0 : value < 2n ** 8n ? 1 : value < 2n ** 16n ? 2 : value < 2n ** 32n ? 4 : 8
  const widths = [0, 1, 2, 4, 8].filter((width) => width >= least)
  const width = widths[draw(widths.length)]!
  if (width === 0) return Uint8Array.of((major << 5) | Number(value))
  const argument = fromHex(value.toString(16).padStart(2 * width, '0'))
  return concatBytes(Uint8Array.of((major << 5) | (24 + Math.log2(width))), argument)
}

function integer(value: bigint, draw: Draw): Uint8Array {
  const magnitude = value < 0n ? -1n - value : value
  if (magnitude < 2n ** 64n && draw(2) === 0) return head(value < 0n ? 1 : 0, magnitude, draw)
  const hex = magnitude.toString(16)
  const digits = fromHex(hex.padStart(hex.length + (hex.length % 2), '0'))
  const content = concatBytes(new Uint8Array(draw(4)), digits)
  return concatBytes(Uint8Array.of(value < 0n ? 0xc3 : 0xc2), string(content, draw))
}

function string(content: Uint8Array, draw: Draw): Uint8Array {
  if (content.length <= maxChunk && draw(2) === 0)
    return concatBytes(head(2, BigInt(content.length), draw), content)
  const parts: Uint8Array[] = [Uint8Array.of(0x5f)]
  // An empty chunk now and then, also behind the last.
  for (let start = 0; start < content.length || draw(4) === 0; ) {
    const chunk = content.subarray(start, start + draw(maxChunk + 1))
    parts.push(head(2, BigInt(chunk.length), draw), chunk)
    start += chunk.length
  }
  return concatBytes(...parts, breakByte)
}

/** An array or a map, whose items are encoded. */
const sequence = (major: 4 | 5, items: readonly Uint8Array[], isOpen: boolean, draw: Draw): Uint8Array =>
  isOpen
    ? concatBytes(Uint8Array.of((major << 5) | 31), ...items, breakByte)
    : concatBytes(head(major, BigInt(items.length), draw), ...items)
