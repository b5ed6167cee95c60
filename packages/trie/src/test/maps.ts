import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'
import type { TrieOperation } from '../update/edit.js'

export const bytes = fromHex
export const hex = toHex
export const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))

/** The path of a key given in hex, as 64 hex digits. */
export const pathOf = (key: string): string => hex(blake2b256(bytes(key)))

/** The first `count` of the keys 00000000, 00000001, … whose paths begin with one of the prefixes. */
export function keysUnder(prefixes: readonly string[], count: number): string[] {
  const keys: string[] = []
  for (let i = 0; keys.length < count; i += 1) {
    const key = i.toString(16).padStart(8, '0')
    const path = pathOf(key)
    if (prefixes.some((prefix) => path.startsWith(prefix))) keys.push(key)
  }
  return keys
}

/** Keys for a small trie with long prefixes and branches of two, which random keys rarely give. */
export const crowdedKeys = [
  ...keysUnder(['a1b'], 6),
  ...keysUnder(['a1c', 'a1d'], 6),
  ...keysUnder(['7e0'], 5),
  ...keysUnder(['70'], 5),
  ...keysUnder(['c'], 4),
]

/** A map as the tests write it: hex key to hex value. */
type Entries = ReadonlyMap<string, string>

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

const blockSize = 300

/** A block that inserts 300 keys and deletes every other one that the block before it has inserted. */
export function blockOperations(block: number): TrieOperation[] {
  const keyOf = (height: number, i: number): Uint8Array => utf8(`${height}/${i}`)
  const operations: TrieOperation[] = []
  for (let i = 0; i < blockSize; i += 1) {
    operations.push({ type: 'insert', key: keyOf(block, i), value: utf8(`${i}`) })
    if (block > 0 && i % 2 === 0) operations.push({ type: 'delete', key: keyOf(block - 1, i) })
  }
  return operations
}
