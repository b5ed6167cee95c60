import type { PlutusData } from '@ratatosk/ledger/plutus-data'
import type { Draw } from './draw.js'

const sizes = new WeakMap<object, number>()

/** How many parts data has, itself included. */
function sizeOf(data: PlutusData): number {
  if (typeof data === 'bigint' || data instanceof Uint8Array) return 1
  const size = sizes.get(data) ?? 1 + itemsOf(data).reduce((sum, item) => sum + sizeOf(item), 0)
  sizes.set(data, size)
  return size
}

const itemsOf = (data: Exclude<PlutusData, bigint | Uint8Array>): readonly PlutusData[] =>
  'fields' in data ? data.fields : data

/** The part at a place, counted from the whole downwards. */
function partAt(data: PlutusData, place: number): PlutusData {
  let found = data
  replaced(data, place, (part) => {
    found = part
    return part
  })
  return found
}

function replaced(data: PlutusData, place: number, change: (part: PlutusData) => PlutusData): PlutusData {
  if (place === 0 || typeof data === 'bigint' || data instanceof Uint8Array) return change(data)
  let left = place - 1
  const items = [...itemsOf(data)]
  for (const [index, item] of items.entries()) {
    const size = sizeOf(item)
    if (left < size) {
      items[index] = replaced(item, left, change)
      break
    }
    left -= size
  }
  return 'fields' in data ? { index: data.index, fields: items } : items
}

/** The ways to mutate a part: put a part of another redeemer there, or change it. */
const mutationKinds = ['foreign part', 'integer', 'cut', 'bit', 'items', 'constructor'] as const
type MutationKind = (typeof mutationKinds)[number]

export interface Mutated {
  readonly redeemer: PlutusData
  /** The last mutation. */
  readonly kind: MutationKind
}

/** The redeemer, the header and its fields: a changed header has another hash. */
const headerParts = 12

/** A redeemer with a few parts exchanged, changed or removed: foreign keys, swapped sides, short proofs. */
export function mutated(redeemer: PlutusData, pool: readonly PlutusData[], draw: Draw): Mutated {
  let result = redeemer
  let kind: MutationKind = 'items'
  for (let times = 1 + draw(2); times > 0; times--) {
    const count = sizeOf(result) - headerParts
    if (count <= 0) break
    result = replaced(result, headerParts + draw(count), (part) => {
      const [value, done] = changed(part, pool, draw)
      kind = done
      return value
    })
  }
  return { redeemer: result, kind }
}

/** How often a part of the same kind is looked for in other redeemers. */
const looks = 30

function foreignPart(data: PlutusData, pool: readonly PlutusData[], draw: Draw): PlutusData {
  const other = pool[draw(pool.length)]!
  for (let look = 0; look < looks; look++) {
    const part = partAt(other, draw(sizeOf(other)))
    if (kindOf(part) === kindOf(data)) return part
  }
  return data
}

function changed(data: PlutusData, pool: readonly PlutusData[], draw: Draw): [PlutusData, MutationKind] {
  if (draw(3) === 0) return [foreignPart(data, pool, draw), 'foreign part']
  if (typeof data === 'bigint') return [[data + 1n, data - 1n, -1n, 0n, 2n ** 63n][draw(5)]!, 'integer']
  if (data instanceof Uint8Array) {
    if (data.length === 0 || draw(4) === 0)
      return [data.subarray(draw(2), [data.length - draw(3), data.length >> 1, 0][draw(3)]), 'cut']
    const place = draw(data.length)
    return [data.with(place, data[place]! ^ (1 << draw(8))), 'bit']
  }
  const items = itemsOf(data)
  const left = draw(Math.max(1, items.length))
  const fewer = items.filter((_, place) => place !== left)
  const rest = [fewer, [...items].reverse(), [...items, ...items.slice(-1)]][draw(3)]!
  if (!('fields' in data)) return [rest, 'items']
  return draw(4) === 0
    ? [{ index: draw(12), fields: items }, 'constructor']
    : [{ index: data.index, fields: rest }, 'items']
}

const kindOf = (data: PlutusData): string =>
  typeof data === 'bigint'
    ? 'integer'
    : data instanceof Uint8Array
      ? 'bytes'
      : 'fields' in data
        ? 'constr'
        : 'list'

/** The redeemers in which one byte string, behind the header, is empty, half as long, or a byte shorter. */
export function* shortened(redeemer: PlutusData): Generator<PlutusData> {
  for (let place = headerParts; place < sizeOf(redeemer); place++) {
    const part = partAt(redeemer, place)
    if (!(part instanceof Uint8Array)) continue
    for (const length of new Set([0, part.length >> 1, part.length - 1]))
      if (length >= 0 && length < part.length) yield replaced(redeemer, place, () => part.subarray(0, length))
  }
}
