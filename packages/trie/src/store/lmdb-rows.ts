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

export const countIds = (row: Buffer): number => Math.floor(row.length / numberLength)

export function decodeIds(row: Buffer): Float64Array {
  const ids = new Float64Array(countIds(row))
  for (let index = 0; index < ids.length; index += 1)
    ids[index] = row.readUIntBE(index * numberLength, numberLength)
  return ids
}
