import { setImmediate as pause } from 'node:timers/promises'
import type { OutputHashes } from '@ratatosk/block'
import {
  appliedTransaction,
  blake2b256,
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  type OutputReference,
  outputReferenceKey,
  type UtxoView,
} from '@ratatosk/ledger'
import type { ExaminedTransaction } from '@ratatosk/store'
import type { SequencerStore } from '../types.js'

/** Transactions taken apart between two pauses. */
const pauseEvery = 500
/** Outputs that one query asks for. */
const step = 2_000

/** The outputs that are unspent after the store's newest block, of those that were asked for. */
export interface OutputsBefore {
  /** For the transactions map; see `OutputHashes`. */
  readonly hashOf: OutputHashes
  /** For the rules of the ledger. */
  readonly utxos: UtxoView
}

/**
 * Reads the outputs before a block.
 *
 * @param transactions of the block: the outputs that these name
 * @param more references of further ones, as CBOR
 */
export async function readOutputsBefore(
  { blocks }: Pick<SequencerStore, 'blocks'>,
  transactions: readonly Uint8Array[],
  more: readonly Uint8Array[],
): Promise<OutputsBefore> {
  const named = new Map<string, OutputReference>()
  const add = (reference: OutputReference) => named.set(outputReferenceKey(reference), reference)
  for (const outref of more) add(decodeOutputReference(outref))
  for (const [position, cbor] of transactions.entries()) {
    if (position % pauseEvery === pauseEvery - 1) await pause()
    for (const reference of namedBy(cbor)) add(reference)
  }
  const references = [...named.values()]
  const outputs = new Map<string, Uint8Array>()
  for (let start = 0; start < references.length; start += step)
    for (const { reference, output } of await blocks.outputsAfterNewest(
      references.slice(start, start + step),
    ))
      outputs.set(outputReferenceKey(reference), output)
  return {
    hashOf(outref) {
      const output = outputs.get(outputReferenceKey(decodeOutputReference(outref)))
      return output && blake2b256(output)
    },
    utxos: {
      get(key) {
        const output = outputs.get(key)
        return output && decodeTransactionOutput(output)
      },
    },
  }
}

/** What a transaction names; nothing if it does not decode, which the block's verification finds. */
function namedBy(cbor: Uint8Array): readonly OutputReference[] {
  try {
    const { inputs, collateralInputs, referenceInputs } = decodeTransaction(cbor).body
    return [...inputs, ...collateralInputs, ...referenceInputs]
  } catch {
    return []
  }
}

/** A transaction that was accepted, or is in a valid block. */
export function examine(cbor: Uint8Array): ExaminedTransaction {
  const transaction = decodeTransaction(cbor)
  const { inputs, collateralInputs, referenceInputs } = transaction.body
  return {
    ...appliedTransaction(transaction),
    named: [...inputs, ...collateralInputs, ...referenceInputs],
  }
}

/** The same for the transactions of a block. */
export async function examineAll(transactions: readonly Uint8Array[]): Promise<ExaminedTransaction[]> {
  const examined: ExaminedTransaction[] = []
  for (const [position, cbor] of transactions.entries()) {
    if (position % pauseEvery === pauseEvery - 1) await pause()
    examined.push(examine(cbor))
  }
  return examined
}
