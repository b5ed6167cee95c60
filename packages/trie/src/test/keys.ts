import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'

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
