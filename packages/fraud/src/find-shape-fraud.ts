import { toHex } from '@ratatosk/cbor'
import { allowedFields } from '@ratatosk/contracts'
import type { AccusedBlock } from './accused-block.js'
import { openRecord, openTransaction } from './openings.js'
import type { Recorded } from './recorded.js'
import { type Item, itemIn } from './shapes/item.js'
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
  strangeAssetOfMint,
  strangeAssetOfOutput,
  strangeKeysOf,
  witnessFields,
} from './shapes/shapes.js'
import type { OutputPlace, PartOpening, TransactionFraudProof } from './transaction-proofs.js'

/** Keys of the CDDL. */
const mint = 9
const sets = { inputs: 0, collateralInputs: 13, referenceInputs: 18 } as const

/**
 * The frauds in how a transaction is encoded that the ledger does not decode. After the first that prevents
 * reading a part, no other is looked for in it.
 */
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
  if (witnesses === undefined) return
  for (const isBootstrap of [false, true]) {
    for (const [index, witness] of itemsOf(witnesses, isBootstrap ? 2 : 0).entries())
      if (!isWitness(witness, isBootstrap))
        yield { fraud: 'strangeWitness', record, witnessSet, isBootstrap, index }
  }
}

/** A part of which every field can be read; undefined if there is none, which is a fraud. */
function* readablePart(
  cbor: Uint8Array,
  part: PartOpening,
  fields: FieldTypes,
): Generator<TransactionFraudProof, Item | undefined> {
  const item = itemIn(cbor)
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

/** The first strange asset in the mint of a body. */
function strangeAssetIn(body: Item) {
  const field = fieldOf(body, mint)
  return field && strangeAssetOfMint(field)
}

function* outputsIn(body: Item): Generator<readonly [OutputPlace, Item], void> {
  yield* itemsOf(body, 1).entries()
  const collateralReturn = fieldOf(body, 16)
  if (collateralReturn) yield ['collateralReturn', collateralReturn]
}
