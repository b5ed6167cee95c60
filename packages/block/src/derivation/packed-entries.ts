import type { TrieEntry } from '@ratatosk/trie'

/** Entries of a map by key. An entry takes about 200 bytes, where two arrays and their names take 700. */
export interface PackedEntries {
  /** Adds an entry, in the place of one with the same key. */
  add(entry: TrieEntry): void
  /** A view; undefined without such a key. */
  valueOf(key: Uint8Array): Uint8Array | undefined
  /** Views, in the order in which the keys were added. */
  all(): Generator<TrieEntry, void>
}

/** Bytes of the lengths of key and value in front of an entry. */
const headLength = 8

export function createPackedEntries(): PackedEntries {
  let bytes = new Uint8Array(65_536)
  let view = new DataView(bytes.buffer)
  let end = 0
  /** Where each entry begins, by the bytes of its key. */
  const places = new Map<string, number>()

  function grow(length: number): void {
    if (length <= bytes.length) return
    const grown = new Uint8Array(Math.max(2 * bytes.length, length))
    grown.set(bytes)
    bytes = grown
    view = new DataView(grown.buffer)
  }

  function entryAt(place: number): TrieEntry {
    const keyEnd = place + headLength + view.getUint32(place)
    const valueEnd = keyEnd + view.getUint32(place + 4)
    return [bytes.subarray(place + headLength, keyEnd), bytes.subarray(keyEnd, valueEnd)]
  }

  return {
    add([key, value]) {
      grow(end + headLength + key.length + value.length)
      places.set(nameOf(key), end)
      view.setUint32(end, key.length)
      view.setUint32(end + 4, value.length)
      bytes.set(key, end + headLength)
      bytes.set(value, end + headLength + key.length)
      end += headLength + key.length + value.length
    },

    valueOf(key) {
      const place = places.get(nameOf(key))
      return place === undefined ? undefined : entryAt(place)[1]
    },

    *all() {
      for (const place of places.values()) yield entryAt(place)
    },
  }
}

/** A key may be of any length: the operator of an invalid block chooses it. */
function nameOf(key: Uint8Array): string {
  let name = ''
  for (let start = 0; start < key.length; start += 1024)
    name += String.fromCharCode(...key.subarray(start, start + 1024))
  return name
}
