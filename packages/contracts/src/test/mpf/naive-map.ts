import { concatBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'

/*
 * Hashes of the Merkle Patricia Forestry, written straight from its description, to forge proofs with.
 */

export const nibbleOf = (path: Uint8Array, index: number): number =>
  index % 2 === 0 ? path[index >> 1]! >> 4 : path[index >> 1]! & 15

export const nibblesOf = (path: Uint8Array, from: number, to: number): Uint8Array =>
  Uint8Array.from({ length: to - from }, (_, i) => nibbleOf(path, from + i))

export function leafHash(path: Uint8Array, from: number, valueHash: Uint8Array): Uint8Array {
  const rest = path.subarray((from + 1) >> 1)
  const head = from % 2 === 0 ? Uint8Array.of(0xff) : Uint8Array.of(0, nibbleOf(path, from))
  return blake2b256(concatBytes(head, rest, valueHash))
}

/** The Merkle root over a branch's children, by their nibbles. */
export function childrenRoot(children: ReadonlyMap<number, Uint8Array>): Uint8Array {
  let level = Array.from({ length: 16 }, (_, nibble) => children.get(nibble) ?? new Uint8Array(32))
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      blake2b256(concatBytes(level[2 * i]!, level[2 * i + 1]!)),
    )
  }
  return level[0]!
}

export const branchHash = (prefix: Uint8Array, childrenRoot: Uint8Array): Uint8Array =>
  blake2b256(concatBytes(prefix, childrenRoot))
