import { equalBytes, toHex } from '@ratatosk/cbor'
import { allowedFields } from '@ratatosk/contracts'
import { profileLimits } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { openRecord, openTransaction, type TransactionOpening } from './openings.js'
import type { Recorded } from './recorded.js'
import { type Flaw, type Item, itemIn } from './shapes/item.js'
import {
  bodyFields,
  entriesOf,
  type FieldTypes,
  fieldOf,
  firstOf,
  isMap,
  isReference,
  isWitness,
  itemsOf,
  partsOfOutput,
  strangeAssetOfMint,
  strangeAssetOfOutput,
  strangeKeysOf,
  witnessFields,
} from './shapes/shapes.js'
import { strangeItemsIn } from './shapes/strange-items.js'
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
