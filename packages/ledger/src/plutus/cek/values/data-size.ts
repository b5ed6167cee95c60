import type { Data } from './data.js'
import { bytesSize, integerSize } from './sizes.js'

/** How a node of data counts: `charge` gives what it counts by itself. */
type Charge = (data: Data) => number

/** Four words a node, and what integers and byte strings hold (plutus-core's `ExMemoryUsage Data`). */
const memoryCharge: Charge = (data) => {
  if (data.kind === 'integer') return 4 + integerSize(data.value)
  return data.kind === 'bytes' ? 4 + bytesSize(data.value) : 4
}

const nodeCharge: Charge = () => 1

/**
 * The size of data in words, or something over `limit` where it is over that. Data that shares parts can be exponentially
 * larger than what it takes to build it, so nobody may walk further than what can be paid for.
 */
export function dataSize(data: Data, limit: number): number {
  return walk(data, limit, memoryCharge)
}

/** How many nodes data has, or more than `limit`. */
export function dataNodes(data: Data, limit: number): number {
  return walk(data, limit, nodeCharge)
}

/** The lesser of two sizes, found without walking more than a few times as much. */
export function lesserDataSize(a: Data, b: Data, limit: number): number {
  for (let reach = 256; ; reach *= 4) {
    const bound = Math.min(reach, limit)
    const first = dataSize(a, bound)
    if (first <= bound) return Math.min(first, dataSize(b, first))
    const second = dataSize(b, bound)
    if (second <= bound) return second
    if (bound === limit) return Math.min(first, second)
  }
}

function walk(data: Data, limit: number, charge: Charge): number {
  const open: Data[] = [data]
  let size = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size += charge(next)
    if (size > limit) return size
    // Every child counts at least one: those that lie open already may not be more than can be paid for.
    if (next.kind === 'map') {
      if (size + (next.entries?.length ?? 0) > limit) return size + (next.entries?.length ?? 0)
      for (let cell = next.entries; cell !== null; cell = cell.tail)
        open.push(cell.head.first, cell.head.second)
    } else if (next.kind === 'constructor' || next.kind === 'list') {
      const items = next.kind === 'constructor' ? next.fields : next.items
      if (size + (items?.length ?? 0) > limit) return size + (items?.length ?? 0)
      for (let cell = items; cell !== null; cell = cell.tail) open.push(cell.head)
    }
  }
  return size
}
