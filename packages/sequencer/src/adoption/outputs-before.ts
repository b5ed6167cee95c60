import { createPauses, isBridgeAddress, type KnownTransaction, type OutputHashes } from '@ratatosk/block'
import { isDecodeError } from '@ratatosk/cbor'
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

/** Outputs that one query asks for. */
const step = 1_000

/** The outputs that are unspent after the store's newest block, of those that were asked for. */
interface OutputsBefore {
  /** For the transactions map; see `OutputHashes`. */
  readonly hashOf: OutputHashes
  /** For the rules of the ledger. */
  readonly utxos: UtxoView
}

/** Reads those outputs before a block that it names. References are not kept: there may be half a million. */
export async function readOutputsBefore(
  { blocks }: Pick<SequencerStore, 'blocks'>,
  references: Iterable<OutputReference>,
): Promise<OutputsBefore> {
  const outputs = new Map<string, Uint8Array>()
  let wanted = new Map<string, OutputReference>()
  const pauseIfDue = createPauses()
  async function read(): Promise<void> {
    for (const { reference, output } of await blocks.outputsAfterNewest([...wanted.values()]))
      outputs.set(outputReferenceKey(reference), output)
    wanted = new Map()
  }
  for (const reference of references) {
    await pauseIfDue()
    const key = outputReferenceKey(reference)
    if (!outputs.has(key)) wanted.set(key, reference)
    if (wanted.size === step) await read()
  }
  if (wanted.size > 0) await read()
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

/** A transaction as the store adopts it and, once it is known to be valid, as a block is judged by it. */
export interface Examined extends ExaminedTransaction, KnownTransaction {
  readonly produced: ExaminedTransaction['produced']
}

/** Takes a transaction apart. @param bridge hash of the bridge's script, in a deployment that has one */
export function examine(cbor: Uint8Array, bridge: Uint8Array | undefined): Examined {
  const transaction = decodeTransaction(cbor)
  const { inputs, collateralInputs, referenceInputs, fee, validityInterval } = transaction.body
  return {
    ...appliedTransaction(transaction, ({ address }) => isBridgeAddress(address.bytes, bridge)),
    named: [...inputs, ...collateralInputs, ...referenceInputs],
    fee,
    validityInterval,
  }
}

/** Takes a transaction apart; undefined if it does not decode. */
export function tryExamine(cbor: Uint8Array, bridge: Uint8Array | undefined): Examined | undefined {
  try {
    return examine(cbor, bridge)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return undefined
  }
}
