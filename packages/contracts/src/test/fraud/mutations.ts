import type { PlutusData } from '@ratatosk/ledger/plutus-data'
import type { Draw } from './loose-bodies.js'

type Part = { readonly get: PlutusData; readonly set: (value: PlutusData) => PlutusData }

/** Every part of data, with a function that returns the whole with another value there. */
function* partsIn(data: PlutusData, set: (value: PlutusData) => PlutusData): Generator<Part, void> {
  yield { get: data, set }
  if (typeof data === 'bigint' || data instanceof Uint8Array) return
  const items = 'fields' in data ? data.fields : data
  for (const [place, item] of items.entries()) {
    yield* partsIn(item, (value) => {
      const changed = items.map((each, i) => (i === place ? value : each))
      return set('fields' in data ? { index: data.index, fields: changed } : changed)
    })
  }
}

/** A redeemer with a few parts exchanged, changed or removed: foreign keys, swapped sides, truncated proofs. */
export function mutated(redeemer: PlutusData, pool: readonly PlutusData[], draw: Draw): PlutusData {
  let result = redeemer
  for (let times = 1 + draw(2); times > 0; times--) {
    // Behind the first part, the redeemer, come the header and its fields; a changed header has another hash.
    const parts = [...partsIn(result, (value) => value)].slice(12)
    const part = parts[draw(parts.length)]
    if (part === undefined) return result
    result = part.set(changed(part.get, pool, draw))
  }
  return result
}

function changed(data: PlutusData, pool: readonly PlutusData[], draw: Draw): PlutusData {
  const other = pool[draw(pool.length)]!
  if (draw(3) === 0) {
    const parts = [...partsIn(other, (value) => value)].map(({ get }) => get)
    const alike = parts.filter((part) => kindOf(part) === kindOf(data))
    return alike[draw(Math.max(1, alike.length))] ?? data
  }
  if (typeof data === 'bigint') return [data + 1n, data - 1n, -1n, 0n, 2n ** 63n][draw(5)]!
  if (data instanceof Uint8Array) {
    if (data.length === 0 || draw(4) === 0) return data.subarray(draw(2), Math.max(0, data.length - draw(3)))
    const place = draw(data.length)
    return data.with(place, data[place]! ^ (1 << draw(8)))
  }
  const items = 'fields' in data ? data.fields : data
  const fewer = items.filter((_, place) => place !== draw(Math.max(1, items.length)))
  const rest = [fewer, [...items].reverse(), [...items, ...items.slice(-1)]][draw(3)]!
  return 'fields' in data ? { index: draw(4) === 0 ? draw(12) : data.index, fields: rest } : rest
}

const kindOf = (data: PlutusData): string =>
  typeof data === 'bigint'
    ? 'integer'
    : data instanceof Uint8Array
      ? 'bytes'
      : 'fields' in data
        ? 'constr'
        : 'list'
