import { toHex } from './bytes.js'
import { Major } from './major.js'
import { CborReader } from './reader.js'
import { SET_TAG } from './structure.js'

/**
 * A text that is equal for two items if and only if they differ at most in their encoding: the width of
 * numbers, definite or indefinite lengths, the order of map keys, and tag 258 before sets. The ledger
 * compares decoded certificates and proposals, not their bytes; so does this.
 *
 * @param item well-formed CBOR of bounded depth: the function is recursive
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
