import { type CborReader, Major } from '@ratatosk/cbor'

/** The CBOR of a part that was validated before. Only its structure is needed here. */
export type CborItem =
  | bigint
  | Uint8Array
  | string
  | null
  | boolean
  | readonly CborItem[]
  | MapItem
  | TaggedItem

interface MapItem {
  readonly entries: readonly (readonly [key: CborItem, value: CborItem])[]
}

interface TaggedItem {
  readonly tag: number
  readonly content: CborItem
}

export function readItem(reader: CborReader): CborItem {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return reader.readInt()
    case Major.bytes:
      return reader.readBytes()
    case Major.text:
      return reader.readText()
    case Major.array: {
      const count = reader.readArray()
      const items: CborItem[] = []
      while (reader.hasNext(count, items.length)) items.push(readItem(reader))
      return items
    }
    case Major.map: {
      const count = reader.readMap()
      const entries: [CborItem, CborItem][] = []
      while (reader.hasNext(count, entries.length)) entries.push([readItem(reader), readItem(reader)])
      return { entries }
    }
    case Major.tag: {
      if (reader.peek() === 0xc2 || reader.peek() === 0xc3) return reader.readInteger()
      const tag = reader.readTag()
      return { tag, content: readItem(reader) }
    }
    default:
      return reader.tryNull() ? null : reader.readBoolean()
  }
}

/** Thrown if a part lacks the structure that its decoder ensures: a defect here, never of a transaction. */
function unexpected(wanted: string): never {
  throw new TypeError(`A decoded part is not ${wanted}`)
}

export function integerOf(item: CborItem | undefined): bigint {
  return typeof item === 'bigint' ? item : unexpected('an integer')
}

export function bytesOf(item: CborItem | undefined): Uint8Array {
  return item instanceof Uint8Array ? item : unexpected('a byte string')
}

/** A list, or a set with its tag. */
export function itemsIn(item: CborItem | undefined): readonly CborItem[] {
  if (isList(item)) return item
  if (isTagged(item)) return itemsIn(item.content)
  return unexpected('a list')
}

export function entriesIn(item: CborItem | undefined): MapItem['entries'] {
  return item !== null &&
    typeof item === 'object' &&
    'entries' in item &&
    !isList(item) &&
    !(item instanceof Uint8Array)
    ? item.entries
    : unexpected('a map')
}

export function isList(item: CborItem | undefined): item is readonly CborItem[] {
  return Array.isArray(item)
}

export function isTagged(item: CborItem | undefined): item is TaggedItem {
  return item !== null && typeof item === 'object' && 'tag' in item
}
