import { equalBytes, isDecodeError } from '@ratatosk/cbor'
import { decodeTransaction, type OutputReference, type Transaction } from '@ratatosk/ledger'
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

/** The transaction that is recorded; undefined if its shape is a fraud, as `shapeFrauds` finds it. */
export function readAt(block: AccusedBlock, recorded: Recorded): Read | undefined {
  const bytes = block.transactions[recorded.position] as Uint8Array
  try {
    const transaction = decodeTransaction(bytes)
    if (equalBytes(transaction.id, recorded.parts.id)) return { transaction, isDecoded: true }
  } catch (error) {
    if (!isDecodeError(error)) throw error
  }
  const { id, body, witnessSet } = recorded.parts
  const [read, witnesses] = [itemIn(body), itemIn(witnessSet)]
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

/** These of a transaction that may not be read in whole. */
export function readPartsAt(block: AccusedBlock, recorded: Recorded): ReadParts | undefined {
  const { parts } = recorded
  if (parts.isDecoded) return parts
  const read = readAt(block, recorded)
  if (read === undefined) return undefined
  const { inputs, referenceInputs, outputs, fee } = read.transaction.body
  return { id: parts.id, inputs, referenceInputs, outputs: outputs.map(({ bytes }) => bytes), fee }
}
