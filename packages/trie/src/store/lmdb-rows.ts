import { storeCorrupt } from '../errors.js'
import { HASH_LENGTH } from '../hash/memory.js'
import type { Version } from './store.js'

/** A version with the range of its nodes' ids: `nextNode` is the first id of the next version. */
export interface StoredVersion extends Version {
  readonly firstNode: number
  readonly nextNode: number
}

const NUMBER_LENGTH = 6
const VERSION_LENGTH = HASH_LENGTH + 4 * NUMBER_LENGTH

export function encodeVersion({ root, node, size, firstNode, nextNode }: StoredVersion): Buffer {
  return Buffer.concat([root, encodeIds([node, size, firstNode, nextNode])])
}

export function decodeVersion(sequence: number, row: Buffer): StoredVersion {
  if (row.length !== VERSION_LENGTH) throw storeCorrupt(`version ${sequence} has the wrong length`)
  const number = (index: number): number => row.readUIntBE(HASH_LENGTH + index * NUMBER_LENGTH, NUMBER_LENGTH)
  return {
    sequence,
    root: Buffer.from(row.subarray(0, HASH_LENGTH)),
    node: number(0),
    size: number(1),
    firstNode: number(2),
    nextNode: number(3),
  }
}

export function encodeIds(ids: readonly number[]): Buffer {
  const row = Buffer.allocUnsafe(ids.length * NUMBER_LENGTH)
  for (const [index, id] of ids.entries()) row.writeUIntBE(id, index * NUMBER_LENGTH, NUMBER_LENGTH)
  return row
}

export const countIds = (row: Buffer): number => Math.floor(row.length / NUMBER_LENGTH)

export function decodeIds(row: Buffer): Float64Array {
  const ids = new Float64Array(countIds(row))
  for (let index = 0; index < ids.length; index += 1)
    ids[index] = row.readUIntBE(index * NUMBER_LENGTH, NUMBER_LENGTH)
  return ids
}
