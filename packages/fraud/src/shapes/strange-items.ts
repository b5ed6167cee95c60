import { equalBytes } from '@ratatosk/cbor'
import { type Form, type ItemType, itemTypes } from '@ratatosk/contracts'
import { type Item, itemIn } from './item.js'
import { entriesOf, fieldOf, firstOf } from './shapes.js'

/** Where an item is that is strange: see `strangeItem`. */
interface StrangeItem {
  readonly path: readonly number[]
  readonly same?: readonly [number, number]
}

/** Items of a string that are read: no layer-1 transaction reads more. */
const maxEmbedded = 1000

/** The items of a body or a witness set that are not what the ledger decodes there. */
export function strangeItemsIn(part: Item, type: 'body' | 'witnessSet'): readonly StrangeItem[] {
  const found: StrangeItem[] = []

  function read(item: Item, type: ItemType | undefined, path: readonly number[]): void {
    if (type === undefined) return
    const form: Form | undefined = formsOf(type)[firstOf(item) >> 5]
    if (form === undefined) found.push({ path })
    else if (form.kind === 'variant') readVariant(item, form, path)
    else {
      if (isStrange(item, form)) found.push({ path })
      else readParts(item, form, path)
    }
  }

  function readVariant(item: Item, { most, parts }: Form, path: readonly number[]): void {
    const [variant] = item.items
    if (variant === undefined || firstOf(variant) > 0x1f || variant.argument > most) found.push({ path })
    else read(item, parts[Number(variant.argument)], path)
  }

  function readParts(item: Item, form: Form, path: readonly number[]): void {
    if (form.isDistinct) {
      const same = repeatedIn(item)
      if (same) found.push({ path, same })
    }
    if (form.kind === 'embedded') {
      const content = embeddedIn(item)
      if (content === 'malformed') found.push({ path })
      else if (content !== 'unreadable') read(content, form.parts[0], [...path, 0])
      return
    }
    if (form.kind === 'keyed') {
      for (const [key, value] of entriesOf(item)) {
        const field = firstOf(key)
        // The script finds the first of a key that comes again.
        if (fieldOf(item, field) === value) read(value, form.parts[field], [...path, field])
      }
    } else {
      for (const [index, each] of item.items.entries())
        read(each, partOf(item, form, index), [...path, index])
    }
  }

  read(part, type, [])
  return found
}

const formsOf = (type: ItemType): { readonly [major: number]: Form } => itemTypes[type]

const embeddedIn = ({ bytes, argument }: Item) =>
  itemIn(bytes.subarray(bytes.length - Number(argument)), maxEmbedded, true)

function partOf({ bytes, argument }: Item, { kind, parts }: Form, step: number): ItemType | undefined {
  switch (kind) {
    case 'list':
    case 'chunks':
      return parts[0]
    case 'map':
      return parts[step % 2]
    case 'dataTag':
      return parts[placeOfTagged(bytes[0] as number, argument)]
    default:
      return parts[step]
  }
}

/** Where a tag of Plutus data finds the type of what is behind it; −1 if there is no such tag. */
function placeOfTagged(first: number, tag: bigint): number {
  if (first === 0xc2 || first === 0xc3) return 0
  if (tag === 102n) return 1
  return (tag >= 121n && tag <= 127n) || (tag >= 1280n && tag <= 1400n) ? 2 : -1
}

function isStrange(item: Item, { kind, least, most }: Form): boolean {
  const { argument, items } = item
  const major = firstOf(item) >> 5
  if (kind === 'dataTag') return placeOfTagged(firstOf(item), argument) < 0
  if (kind === 'address' && argument >= least) return isStrangeAddress(item)
  let value = argument
  if (value < 0n && kind === 'chunks') value = 0n
  if (value < 0n && major > 3 && kind !== 'pair')
    value = BigInt(major === 5 ? items.length / 2 : items.length)
  return value < least || value > most
}

/** Whether an address in a string has another length than its type in CIP-19 asks for. */
function isStrangeAddress({ bytes, argument: length }: Item): boolean {
  const header = bytes[bytes.length - Number(length)] as number
  if (header < 0x40) return length !== 57n
  return header < 0x60 ? length > 40n : header < 0x80 && length !== 29n
}

/** Two parts of an item that are equal, of a map two keys by entry; undefined if there are none. */
function repeatedIn(item: Item): readonly [number, number] | undefined {
  const stride = firstOf(item) >> 5 === 5 ? 2 : 1
  const parts = item.items.filter((_, index) => index % stride === 0)
  for (const [other, { bytes }] of parts.entries()) {
    const one = parts.findIndex((part) => equalBytes(part.bytes, bytes))
    if (one < other) return [one, other]
  }
  return undefined
}
