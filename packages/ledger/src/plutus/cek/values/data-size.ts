import type { DataValue } from './data.js'
import { bytesSize, integerSize } from './sizes.js'

/** How the nodes of data are counted: `charge` returns the share of one node. */
type Charge = (data: DataValue) => number

/** Four words per node, plus the size of integers and byte strings (`ExMemoryUsage Data` in plutus-core). */
const memoryCharge: Charge = (data) => {
  if (data.kind === 'integer') return 4 + integerSize(data.value)
  return data.kind === 'bytes' ? 4 + bytesSize(data.value) : 4
}

const nodeCharge: Charge = () => 1

/**
 * The size of data in words, or a number above `limit`. Data with shared parts can be exponentially larger
 * than the work of building it, so the traversal must stop where the budget ends.
 */
export function dataSize(data: DataValue, limit: number): number {
  return walk(data, limit, memoryCharge)
}

/** Returns the number of nodes of data, or a number above `limit`. */
export function dataNodes(data: DataValue, limit: number): number {
  return walk(data, limit, nodeCharge)
}

/** Returns the smaller of two sizes. The work is proportional to that size. */
export function lesserDataSize(a: DataValue, b: DataValue, limit: number): number {
  for (let reach = 256; ; reach *= 4) {
    const bound = Math.min(reach, limit)
    const first = dataSize(a, bound)
    if (first <= bound) return Math.min(first, dataSize(b, first))
    const second = dataSize(b, bound)
    if (second <= bound) return second
    if (bound === limit) return Math.min(first, second)
  }
}

function walk(data: DataValue, limit: number, charge: Charge): number {
  const open: DataValue[] = [data]
  let size = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size += charge(next)
    if (size > limit) return size
    // Every child counts at least one, so the pending children must not exceed the limit.
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
