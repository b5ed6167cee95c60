import { toHex } from '../bytes.js'
import { CborReader, Major } from './reader.js'
import { SET_TAG } from './structure.js'

/**
 * A text that is equal for two items exactly where they differ in encoding only: in widths, in definite or indefinite lengths,
 * in the order of a map's keys, and in whether sets are tagged. Decoded certificates and proposals are compared by it.
 *
 * @param item well-formed CBOR whose depth is known to be small: this walks by recursion
 */
export function normalForm(item: { readonly bytes: Uint8Array }): string {
  return normalize(new CborReader(item.bytes))
}

function normalize(reader: CborReader): string {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return String(reader.readInt())
    case Major.bytes:
      return `h${toHex(reader.readBytes())}`
    case Major.text:
      return JSON.stringify(reader.readText())
    case Major.array: {
      const count = reader.readArray()
      const items: string[] = []
      while (reader.hasNext(count, items.length)) items.push(normalize(reader))
      return `[${items}]`
    }
    case Major.map: {
      const count = reader.readMap()
      const entries: string[] = []
      while (reader.hasNext(count, entries.length)) entries.push(`${normalize(reader)}:${normalize(reader)}`)
      return `{${entries.sort()}}`
    }
    case Major.tag: {
      const tag = reader.readTag()
      const content = normalize(reader)
      return tag === SET_TAG ? content : `${tag}(${content})`
    }
    default: {
      const start = reader.position
      reader.skip()
      return `s${toHex(reader.since(start))}`
    }
  }
}
