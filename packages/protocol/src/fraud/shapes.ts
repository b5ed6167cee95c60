import type { MovedParts } from '@ratatosk/block'
import { equalBytes, isDecodeError } from '@ratatosk/cbor'
import { decodeOutputReference, encodeOutputReference, profileLimits } from '@ratatosk/ledger'

/** An item of CBOR, as the scripts walk it. */
export interface Item {
  /** With its head. */
  readonly bytes: Uint8Array
  /** Of the head: the value of a number, the length of a string; −1 for an indefinite length. */
  readonly argument: bigint
  /** Of an array or a tag; of a map keys and values in turn; of a string of indefinite length its chunks. */
  readonly items: readonly Item[]
}

/**
 * The first flaw on a walk through bytes. `malformed`: not one item to the end. `unreadable`: too many items,
 * or a head that is not in its shortest form.
 */
export type Flaw = 'malformed' | 'unreadable'

class FlawError extends Error {
  constructor(readonly flaw: Flaw) {
    super(flaw)
  }
}

/**
 * Reads the items that the scripts read, more than the ledger decodes: chunks of strings may be any items.
 * `maxItems` bounds the effort; with `anyHeads`, heads may be longer than needed.
 */
export function itemIn(cbor: Uint8Array, maxItems: number, anyHeads = false): Item | Flaw {
  let [place, count] = [0, 0]

  const refuse = (flaw: Flaw): never => {
    throw new FlawError(flaw)
  }

  function argumentOf(first: number): bigint {
    const [major, info] = [first >> 5, first & 31]
    if (info < 24) return BigInt(info)
    if (info === 31) return major > 1 && major < 6 ? -1n : refuse('malformed')
    if (info > 27) return refuse('malformed')
    const width = 2 ** (info - 24)
    let argument = 0n
    for (const byte of cbor.subarray(place, place + width)) argument = argument * 256n + BigInt(byte)
    if (!anyHeads && major < 7 && argument < (width === 1 ? 24n : 2n ** BigInt(4 * width)))
      refuse('unreadable')
    place += width
    return argument
  }

  function itemsToBreak(stride: number): Item[] {
    const items: Item[] = []
    while (cbor[place] !== 0xff || items.length % stride > 0) items.push(read())
    place++
    return items
  }

  function itemsOf(number: bigint): Item[] {
    const items: Item[] = []
    while (items.length < number) items.push(read())
    return items
  }

  function contentOf(major: number, argument: bigint): Item[] {
    if (argument < 0n) return itemsToBreak(major === 5 ? 2 : 1)
    if (major === 2 || major === 3) place += Number(argument)
    return itemsOf([0n, 0n, 0n, 0n, argument, 2n * argument, 1n, 0n][major] as bigint)
  }

  function read(): Item {
    const start = place
    const first = cbor[place++]
    if (first === undefined) return refuse('malformed')
    if (++count > maxItems) return refuse('unreadable')
    const argument = argumentOf(first)
    const items = contentOf(first >> 5, argument)
    if (place > cbor.length) return refuse('malformed')
    return { bytes: cbor.subarray(start, place), argument, items }
  }

  try {
    const item = read()
    return place === cbor.length ? item : 'malformed'
  } catch (error) {
    if (error instanceof FlawError) return error.flaw
    throw error
  }
}

/*
 * The shapes that the transaction policy asks for, as its script reads them.
 */

/** The first byte of an item: its type and the beginning of its argument. */
export const firstOf = ({ bytes }: Item): number => bytes[0] as number

const between = (item: Item | undefined, from: number, to: number): boolean =>
  item !== undefined && firstOf(item) >= from && firstOf(item) < to

const isArray = (item: Item | undefined): boolean => between(item, 0x80, 0xa0)
export const isMap = (item: Item | undefined): boolean => between(item, 0xa0, 0xc0)
const isUint = (item: Item | undefined): boolean => between(item, 0, 0x20)

/** The item behind a tag with an argument of two bytes, as that of a set is. */
const untagged = (item: Item): Item => (firstOf(item) === 0xd9 ? (item.items[0] as Item) : item)

export const entriesOf = ({ items }: Item): (readonly [key: Item, value: Item])[] =>
  items.flatMap((key, place) => (place % 2 === 0 ? [[key, items[place + 1] as Item] as const] : []))

/** The first value of a map under a key below 24; undefined if there is none. */
export const fieldOf = (map: Item, field: number): Item | undefined =>
  entriesOf(map).find(([key]) => firstOf(key) === field)?.[1]

/** The items of a field of a map that is an array or a set; none without the field. */
export function itemsOf(map: Item, key: number): readonly Item[] {
  const field = fieldOf(map, key)
  return field === undefined ? [] : untagged(field).items
}

/** An asset in a value or a mint, by the index of its policy and that of its name under the policy. */
export interface AssetPlace {
  readonly policy: number
  readonly name: number
}

type IsShape = (item: Item) => boolean

const isSet: IsShape = (item) => isArray(untagged(item))
const isMint: IsShape = (item) => strangeAssetOfMint(item) === undefined

export interface FieldTypes {
  /** How many keys there may be; a field without a type here may be anything. */
  readonly known: number
  readonly needed: readonly number[]
  readonly types: ReadonlyMap<number, IsShape>
}

export const bodyFields: FieldTypes = {
  known: 24,
  needed: [0, 1, 2],
  types: new Map<number, IsShape>([
    ...[0, 13, 14, 18].map((key) => [key, isSet] as const),
    ...[2, 3, 8, 15, 17].map((key) => [key, isUint] as const),
    [1, isArray],
    [5, isMap],
    [9, isMint],
  ]),
}

export const witnessFields: FieldTypes = {
  known: 8,
  needed: [],
  types: new Map<number, IsShape>([
    ...[0, 1, 2, 3, 4, 6, 7].map((key) => [key, isSet] as const),
    [5, (item) => isArray(item) || isMap(item)],
  ]),
}

/** The first bytes of the keys of a map that make it strange: see `strangeField`. */
export function strangeKeysOf(item: Item, { known, needed, types }: FieldTypes): number[] {
  if (!isMap(item)) return [0]
  const entries = entriesOf(item)
  const keys = entries.map(([key]) => firstOf(key))
  // The scripts find no other field behind such a key.
  const unknown = keys.filter((key) => key >= 24)
  if (unknown.length > 0) return unknown
  const isStrange = (key: number, value: Item): boolean =>
    key >= known || keys.indexOf(key) < keys.lastIndexOf(key) || types.get(key)?.(value) === false
  return [
    ...needed.filter((key) => !keys.includes(key)),
    ...entries.flatMap(([key, value]) => (isStrange(firstOf(key), value) ? [firstOf(key)] : [])),
  ]
}

/** The first asset by which an item does not map policies to names to quantities below a bound. */
function strangeAssetOf(item: Item, bound: number): AssetPlace | undefined {
  if (!isMap(item)) return { policy: 0, name: 0 }
  const isName = (name: Item) => between(name, 0x40, 0x58) || (firstOf(name) === 0x58 && name.argument < 33n)
  for (const [policy, [id, names]] of entriesOf(item).entries()) {
    if (firstOf(id) !== 0x58 || id.argument !== 28n || !isMap(names)) return { policy, name: 0 }
    const isAsset = ([own, quantity]: readonly [Item, Item]) => isName(own) && firstOf(quantity) < bound
    const name = entriesOf(names).findIndex((entry) => !isAsset(entry))
    if (name >= 0) return { policy, name }
  }
  return undefined
}

/** The first strange asset of a mint; undefined if there is none. */
export const strangeAssetOfMint = (mint: Item): AssetPlace | undefined => strangeAssetOf(mint, 0x40)

/** The same of a value; that of a value without assets is the first. */
function strangeAssetOfValue(value: Item): AssetPlace | undefined {
  const first = { policy: 0, name: 0 }
  if (!isArray(value)) return isUint(value) ? undefined : first
  const [lovelace, assets] = value.items
  return isUint(lovelace) && assets !== undefined ? strangeAssetOf(assets, 0x20) : first
}

/** Address and value of an output in either form. */
export const partsOfOutput = (output: Item): readonly (Item | undefined)[] =>
  isMap(output) ? [fieldOf(output, 0), fieldOf(output, 1)] : output.items.slice(0, 2)

/** An asset by which an item is no output, the first if its value is not why; undefined if it is one. */
export function strangeAssetOfOutput(output: Item): AssetPlace | undefined {
  const [address, value] = partsOfOutput(output)
  const hasForm = isMap(output) ? entriesOf(output).every(([key]) => firstOf(key) < 4) : isArray(output)
  return hasForm && between(address, 0x40, 0x5f) && value !== undefined
    ? strangeAssetOfValue(value)
    : { policy: 0, name: 0 }
}

/** Whether an item begins like a key witness or a bootstrap witness. */
export const isWitness = ({ bytes }: Item, isBootstrap: boolean): boolean =>
  [isBootstrap ? 0x84 : 0x82, 0x58, 32].every((byte, place) => bytes[place] === byte) &&
  bytes[35] === 0x58 &&
  bytes[36] === 64

export function isReference({ bytes }: Item): boolean {
  try {
    return equalBytes(encodeOutputReference(decodeOutputReference(bytes)), bytes)
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}

/** Keys of the CDDL. */
const [inputs, outputs, fee, referenceInputs] = [0, 1, 2, 18]

/** Bytes of the smallest output: an array of an address without a stake part and a number. */
const leastOutputBytes = 33

/**
 * The changes that the scripts read of a transaction whose body the ledger does not decode; undefined if they
 * cannot read one of these fields, or the body has no room for so many outputs. Both are frauds.
 */
export function movedParts(body: Uint8Array): MovedParts | undefined {
  if (body.length > profileLimits.bodyBytes) return undefined
  const item = itemIn(body, profileLimits.bodyItems)
  if (typeof item === 'string') return undefined
  // The scripts find no field behind a key of more than one byte.
  const hides = (key: number) => key >= 24 || [inputs, outputs, fee, referenceInputs].includes(key)
  if (strangeKeysOf(item, bodyFields).some(hides)) return undefined
  // Each takes a follower much more memory than its bytes.
  if (itemsOf(item, outputs).length * leastOutputBytes > body.length) return undefined
  const references = [...itemsOf(item, inputs), ...itemsOf(item, referenceInputs)]
  if (!references.every(isReference)) return undefined
  const referencesAt = (key: number) => itemsOf(item, key).map(({ bytes }) => decodeOutputReference(bytes))
  return {
    inputs: referencesAt(inputs),
    referenceInputs: referencesAt(referenceInputs),
    outputs: itemsOf(item, outputs).map(({ bytes }) => bytes),
    fee: fieldOf(item, fee)?.argument ?? 0n,
  }
}
