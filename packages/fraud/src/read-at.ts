import { concatBytes, equalBytes, isDecodeError } from '@ratatosk/cbor'
import { decodeTransaction, type OutputReference, profileLimits, type Transaction } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { shapeFrauds } from './find-shape-fraud.js'
import type { Recorded } from './recorded.js'
import { itemIn } from './shapes/item.js'
import { readLeniently } from './shapes/lenient.js'

/** A transaction as the ledger decodes it, or as the scripts read it. */
export interface Read {
  readonly transaction: Transaction
  readonly isDecoded: boolean
}

/** An empty witness set, and that there are no auxiliary data. */
const noWitnesses = Uint8Array.of(0xa0, 0xf5, 0xf6)

/**
 * The transaction that is recorded, without witnesses if these are not; undefined if its shape is a fraud, as
 * `shapeFrauds` finds it.
 */
export function readAt(block: AccusedBlock, recorded: Recorded): Read | undefined {
  const { isWitnessed, parts } = recorded
  const { id, body } = parts
  const witnessSet = isWitnessed ? parts.witnessSet : noWitnesses.subarray(0, 1)
  const rest = isWitnessed ? parts.rest : noWitnesses.subarray(1)
  const bytes = concatBytes(Uint8Array.of(0x84), body, witnessSet, rest)
  try {
    const transaction = decodeTransaction(bytes)
    const isCutSo = equalBytes(transaction.witnesses.bytes, witnessSet)
    if (isCutSo && equalBytes(transaction.id, id)) return { transaction, isDecoded: true }
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  const { bodyItems, witnessSetItems } = profileLimits
  const [read, witnesses] = [itemIn(body, bodyItems), itemIn(witnessSet, witnessSetItems)]
  if (typeof read === 'string' || typeof witnesses === 'string') return undefined
  if (!shapeFrauds(block, recorded).next().done) return undefined
  return { transaction: readLeniently(bytes, { id, body: read, witnesses }), isDecoded: false }
}

/** What moves outputs in the transaction that is recorded, in order. */
export interface ReadParts {
  readonly id: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  /** CBOR of each output. */
  readonly outputs: readonly Uint8Array[]
  /** Lovelace. */
  readonly fee: bigint
}

const readPartsOf = new WeakMap<Recorded, { readonly parts: ReadParts | undefined }>()

/** These of a transaction that may not be read in whole. */
export function readPartsAt(block: AccusedBlock, recorded: Recorded): ReadParts | undefined {
  if (recorded.parts.isDecoded) return recorded.parts
  const known = readPartsOf.get(recorded) ?? { parts: readUndecodedParts(block, recorded) }
  readPartsOf.set(recorded, known)
  return known.parts
}

function readUndecodedParts(block: AccusedBlock, recorded: Recorded): ReadParts | undefined {
  const { parts } = recorded
  const read = readAt(block, recorded)
  if (read === undefined) return undefined
  const { inputs, referenceInputs, outputs, fee } = read.transaction.body
  return { id: parts.id, inputs, referenceInputs, outputs: outputs.map(({ bytes }) => bytes), fee }
}
