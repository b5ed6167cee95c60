import { storeCorrupt } from '../errors.js'
import { hashLength } from '../hash/memory.js'
import type { Version } from './store.js'

/** A version with the range of its nodes' ids: `nextNode` is the first id of the next version. */
export interface StoredVersion extends Version {
  readonly firstNode: number
  readonly nextNode: number
}

const numberLength = 6
const versionLength = hashLength + 4 * numberLength

export function encodeVersion({ root, node, size, firstNode, nextNode }: StoredVersion): Buffer {
  return Buffer.concat([root, encodeIds([node, size, firstNode, nextNode])])
}

export function decodeVersion(sequence: number, row: Buffer): StoredVersion {
  if (row.length !== versionLength) throw storeCorrupt(`version ${sequence} has the wrong length`)
  const number = (index: number): number => row.readUIntBE(hashLength + index * numberLength, numberLength)
  return {
    sequence,
    root: Buffer.from(row.subarray(0, hashLength)),
    node: number(0),
    size: number(1),
    firstNode: number(2),
    nextNode: number(3),
  }
}

export function encodeIds(ids: readonly number[]): Buffer {
  const row = Buffer.allocUnsafe(ids.length * numberLength)
  for (let index = 0; index < ids.length; index += 1)
    row.writeUIntBE(ids[index] as number, index * numberLength, numberLength)
  return row
}

const countIds = (row: Buffer): number => Math.floor(row.length / numberLength)

export function decodeIds(row: Buffer): Float64Array {
  const ids = new Float64Array(countIds(row))
  for (let index = 0; index < ids.length; index += 1)
    ids[index] = row.readUIntBE(index * numberLength, numberLength)
  return ids
}

/** Ids of nodes from several rows. They are taken in order, so that nodes of one page are freed together. */
export interface ObsoleteIds {
  /** How many are left. */
  readonly left: number
  /** Decodes and sorts one more row; false if that was done for all. */
  readRow(): boolean
  /** Takes the smallest ids, at most `limit`. All rows must have been read. */
  take(limit: number): readonly number[]
}

/** @param rows ids in any order, as {@link encodeIds} writes them */
export function obsoleteIds(rows: readonly Buffer[]): ObsoleteIds {
  const unread = rows.filter(({ length }) => length > 0)
  const lists: { readonly ids: Float64Array; next: number }[] = []
  let left = unread.reduce((sum, row) => sum + countIds(row), 0)

  function takeSmallest(): number | undefined {
    let smallest = Infinity
    let from: (typeof lists)[number] | undefined
    for (const list of lists) {
      const id = list.ids[list.next] ?? Infinity
      if (id >= smallest) continue
      smallest = id
      from = list
    }
    if (from === undefined) return undefined
    from.next += 1
    left -= 1
    return smallest
  }

  return {
    get left() {
      return left
    },

    readRow() {
      const row = unread.pop()
      if (row === undefined) return false
      lists.push({ ids: decodeIds(row).sort(), next: 0 })
      return true
    },

    take(limit) {
      const taken: number[] = []
      while (taken.length < limit) {
        const id = takeSmallest()
        if (id === undefined) break
        taken.push(id)
      }
      return taken
    },
  }
}
