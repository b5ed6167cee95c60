import { equalBytes, toHex } from '@ratatosk/cbor'
import { allowedFields, type Form, type ItemType, itemTypes } from '@ratatosk/contracts'
import { profileLimits } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { openRecord, openTransaction, type TransactionOpening } from './openings.js'
import type { Recorded } from './recorded.js'
import {
  bodyFields,
  entriesOf,
  type FieldTypes,
  type Flaw,
  fieldOf,
  firstOf,
  type Item,
  isMap,
  isReference,
  isWitness,
  itemIn,
  itemsOf,
  partsOfOutput,
  strangeAssetOfMint,
  strangeAssetOfOutput,
  strangeKeysOf,
  witnessFields,
} from './shapes.js'
import type {
  OutputPlace,
  PartOpening,
  TransactionFraudProof,
  WitnessSetOpening,
} from './transaction-proofs.js'

/** Keys of the CDDL. */
const mint = 9
const sets = { inputs: 0, collateralInputs: 13, referenceInputs: 18 } as const

const limits = {
  body: { bytes: profileLimits.bodyBytes, items: profileLimits.bodyItems },
  witnessSet: { bytes: profileLimits.witnessSetBytes, items: profileLimits.witnessSetItems },
} as const

/** A part of a transaction. One that is longer than the profile allows is `unreadable` too. */
const partIn = (cbor: Uint8Array, type: keyof typeof limits): Item | Flaw =>
  cbor.length > limits[type].bytes ? 'unreadable' : itemIn(cbor, limits[type].items)

/** The frauds in an encoding that the ledger does not decode; none in a part after one prevents reading. */
export function* shapeFrauds(
  block: AccusedBlock,
  { position, parts: { body, witnessSet }, isWitnessed }: Recorded,
): Generator<TransactionFraudProof, void> {
  const transaction = openTransaction(block, position)
  const map = yield* readablePart(body, transaction, bodyFields)
  if (map !== undefined) yield* fraudsInBody(block, position, map)
  if (!isWitnessed) return
  const record = openRecord(block, position)
  const witnesses = yield* readablePart(witnessSet, { record, witnessSet }, witnessFields)
  if (witnesses !== undefined) yield* witnessesIn(witnesses, { record, witnessSet })
}

/** The items of a transaction that the ledger does not decode. @param networkId of the layer 2 */
export function* strangeItems(
  block: AccusedBlock,
  recorded: Recorded,
  networkId: number,
): Generator<TransactionFraudProof, void> {
  const { position, parts, isWitnessed } = recorded
  const { body, witnessSet } = parts
  const transaction = openTransaction(block, position)
  const ofBody = partIn(body, 'body')
  if (typeof ofBody !== 'string')
    for (const strange of strangeItemsIn(ofBody, 'body'))
      yield { fraud: 'strangeItem', part: transaction, ...strange }
  const ofWitnesses = isWitnessed ? partIn(witnessSet, 'witnessSet') : 'unreadable'
  if (typeof ofWitnesses !== 'string') {
    const part = { record: openRecord(block, position), witnessSet }
    for (const strange of strangeItemsIn(ofWitnesses, 'witnessSet'))
      yield { fraud: 'strangeItem', part, ...strange }
  }
  if (typeof ofBody !== 'string' && shapeFrauds(block, recorded).next().done)
    yield* strangeAddresses(transaction, ofBody, networkId)
}

/** The addresses and accounts in a body of which every field can be read, as the script reads them. */
function* strangeAddresses(
  transaction: TransactionOpening,
  body: Item,
  networkId: number,
): Generator<TransactionFraudProof, void> {
  const withdrawals = fieldOf(body, 5)
  const account = Uint8Array.of(0x58, 29, 0xf0 + networkId)
  const isAllowed = ([key, amount]: readonly [Item, Item]) =>
    equalBytes(key.bytes.subarray(0, 3), account) && firstOf(amount) === 0
  if (withdrawals && !entriesOf(withdrawals).every(isAllowed))
    yield { fraud: 'forbiddenWithdrawal', transaction }
  for (const [output, item] of outputsIn(body))
    if (isOnOtherNetwork(partsOfOutput(item)[0] as Item, networkId))
      yield { fraud: 'outputOnOtherNetwork', transaction, output }
}

/** Whether the header of an address is one of another network, of the Byron era or of no payment. */
function isOnOtherNetwork({ bytes, argument: length }: Item, networkId: number): boolean {
  if (length < 24n) return false
  const header = bytes[bytes.length - Number(length)] as number
  return header > 0x7f || header % 16 !== networkId
}

/** The witnesses that layer 2 does not take of a transaction that the ledger decodes. */
export function* strangeWitnesses(
  block: AccusedBlock,
  { position, parts: { witnessSet } }: Recorded,
): Generator<TransactionFraudProof, void> {
  const item = partIn(witnessSet, 'witnessSet')
  if (typeof item !== 'string') yield* witnessesIn(item, { record: openRecord(block, position), witnessSet })
}

function* witnessesIn(witnesses: Item, part: WitnessSetOpening): Generator<TransactionFraudProof, void> {
  for (const isBootstrap of [false, true]) {
    for (const [index, witness] of itemsOf(witnesses, isBootstrap ? 2 : 0).entries())
      if (!isWitness(witness, isBootstrap)) yield { fraud: 'strangeWitness', ...part, isBootstrap, index }
  }
}

/** A part of which every field can be read; undefined if there is none, which is a fraud. */
function* readablePart(
  cbor: Uint8Array,
  part: PartOpening,
  fields: FieldTypes,
): Generator<TransactionFraudProof, Item | undefined> {
  const item = partIn(cbor, 'witnessSet' in part ? 'witnessSet' : 'body')
  if (item === 'malformed') yield { fraud: 'malformedPart', part }
  if (item === 'unreadable') yield { fraud: 'unreadablePart', part }
  if (item === 'malformed' || item === 'unreadable') return undefined
  const keys = strangeKeysOf(item, fields)
  for (const key of keys) {
    const asset = key === mint && isMap(item) ? strangeAssetIn(item) : undefined
    yield { fraud: 'strangeField', part, key, ...(asset && { asset }) }
  }
  return keys.length === 0 ? item : undefined
}

function* fraudsInBody(
  block: AccusedBlock,
  position: number,
  body: Item,
): Generator<TransactionFraudProof, void> {
  const transaction = openTransaction(block, position)
  for (const key of entriesOf(body).map(([key]) => firstOf(key)))
    if (allowedFields[key] === 0) yield { fraud: 'forbiddenField', transaction, key }
  for (const [output, item] of outputsIn(body)) {
    const asset = strangeAssetOfOutput(item)
    if (asset) yield { fraud: 'strangeOutput', transaction, output, asset }
  }
  for (const set of Object.keys(sets) as (keyof typeof sets)[]) {
    const references = itemsOf(body, sets[set])
    for (const [index, reference] of references.entries())
      if (!isReference(reference)) yield { fraud: 'unreadableReference', transaction, set, index }
    // The script reads no further than to one of these.
    if (!references.every(isReference)) continue
    const keys = references.map(({ bytes }) => toHex(bytes))
    for (const [index, key] of keys.entries()) {
      const other = keys.indexOf(key)
      if (other < index) yield { fraud: 'repeatedReference', transaction, set, index, other }
    }
  }
}

function strangeAssetIn(body: Item) {
  const field = fieldOf(body, mint)
  return field && strangeAssetOfMint(field)
}

function* outputsIn(body: Item): Generator<readonly [OutputPlace, Item], void> {
  yield* itemsOf(body, 1).entries()
  const collateralReturn = fieldOf(body, 16)
  if (collateralReturn) yield ['collateralReturn', collateralReturn]
}

/** Where an item is that is strange: see `strangeItem`. */
interface StrangeItem {
  readonly path: readonly number[]
  readonly same?: readonly [number, number]
}

/** Items of a string that are read: no layer-1 transaction reads more. */
const maxEmbedded = 1000

/** The items of a body or a witness set that are not what the ledger decodes there. */
function strangeItemsIn(part: Item, type: 'body' | 'witnessSet'): readonly StrangeItem[] {
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
    case 'tagged':
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
