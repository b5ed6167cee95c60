import { fromHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { hexOf } from './blocks.js'

/** The sizes of the maps in which proofs are measured. */
export const measuredSizes = { entries: 40_000, outputs: 1_000_000 } as const

/** The first three nibbles of the path of a key. */
function branchOf(key: Uint8Array): number {
  const path = blake2b256(key)
  return (path[0]! << 4) | (path[1]! >> 4)
}

/** The CBOR of references to output 0 of numbered transaction ids; the next overwrites the same bytes. */
function* numbered(count: number, from: number): Generator<Uint8Array, void> {
  const key = Buffer.from(hexOf({ transactionId: new Uint8Array(32), index: 0 }), 'hex')
  for (let i = 0; i < count; i++) {
    key.writeUInt32BE(from + i, 3)
    yield key
  }
}

/**
 * Keys that make the proofs of some keys as long as in a map of so many. Of the others of that map only one
 * is left in each branch: a proof has the hash of a branch only.
 * @param keys in hex, whose branches are whole
 * @param from the first number: other numbers are other keys
 */
export function fillers(count: number, keys: Iterable<string>, from = 0): string[] {
  const whole = new Set(Array.from(keys, (key) => branchOf(fromHex(key))))
  const seen = new Set<number>()
  const kept: string[] = []
  for (const key of numbered(count, from)) {
    const branch = branchOf(key)
    if (seen.has(branch) && !whole.has(branch)) continue
    seen.add(branch)
    kept.push(Buffer.from(key).toString('hex'))
  }
  return kept
}
