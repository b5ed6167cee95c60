import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'

/** A map as the tests write it: hex key to hex value. */
export type Entries = ReadonlyMap<string, string>

/** The root of a map by definition: recursive, on hex strings, from scratch, with the trie's hash only. */
export function naiveRoot(entries: Entries): string {
  return hashOf(Array.from(entries, ([key, value]) => ({ path: hash(key), value: hash(value) })))
}

const nullHashHex = '00'.repeat(32)

function hashOf(entries: { path: string; value: string }[]): string {
  const [first, ...others] = entries
  if (first === undefined) return nullHashHex
  if (others.length === 0) {
    const { path, value } = first
    return hash(path.length % 2 === 0 ? `ff${path}${value}` : `000${path[0]}${path.slice(1)}${value}`)
  }
  let length = 0
  while (others.every((other) => other.path[length] === first.path[length])) length += 1
  const children = [...'0123456789abcdef'].map((digit) =>
    hashOf(
      entries
        .filter(({ path }) => path[length] === digit)
        .map(({ path, value }) => ({ path: path.slice(length + 1), value })),
    ),
  )
  const prefix = [...first.path.slice(0, length)].map((digit) => `0${digit}`).join('')
  return hash(prefix + merkleRoot(children))
}

function merkleRoot(hashes: string[]): string {
  if (hashes.length === 1) return hashes[0]!
  const half = hashes.length / 2
  return hash(merkleRoot(hashes.slice(0, half)) + merkleRoot(hashes.slice(half)))
}

function hash(hex: string): string {
  return toHex(blake2b256(fromHex(hex)))
}
