import {
  decodeTransaction,
  decodeTransactionOutput,
  effects,
  encodeOutputReference,
  outputReferenceKey,
  type TransactionOutput,
  validatePhaseOne,
  validateProfile,
  validateProfileOfInputs,
} from '@ratatosk/ledger'
import { parameters } from '../../evaluate.js'
import type { TestBlock } from '../blocks.js'

/** The rules of the ledger and the layer 2 profile about witnesses and encodings. */
const predicates = new Set([
  'InvalidWitnessesUTXOW',
  'MissingVKeyWitnessesUTXOW',
  'ScriptWitnessNotValidatingUTXOW',
  'MissingScriptWitnessesUTXOW',
  'ExtraneousScriptWitnessesUTXOW',
  'UnspendableUTxONoDatumHash',
  'MissingRequiredDatums',
  'NotAllowedSupplementalDatums',
  'MissingRedeemers',
  'ExtraRedeemers',
  'PPViewHashesDontMatch',
])
const isOfEncoding = (predicate: string) => predicate.endsWith('NotSupported') || predicate === 'TooManyItems'

/** The rules about witnesses that the transactions of a block break, and those about encodings. */
export function witnessFailures(block: TestBlock): string[] {
  const made = new Map<string, TransactionOutput>()
  return block.transactions.flatMap((cbor) => {
    const transaction = decodeTransaction(cbor)
    const { body } = transaction
    const utxos = new Map(made)
    for (const reference of [...body.inputs, ...body.referenceInputs]) {
      const output = block.outputBefore?.(encodeOutputReference(reference))
      if (output) utxos.set(outputReferenceKey(reference), decodeTransactionOutput(output))
    }
    for (const { reference, output } of effects(transaction).produced)
      made.set(outputReferenceKey(reference), output)
    const context = { parameters, networkId: 0, slot: 200n }
    return [
      ...validateProfile(transaction),
      ...validateProfileOfInputs(transaction, utxos),
      ...validatePhaseOne(transaction, utxos, context),
    ]
      .map(({ predicate }) => predicate)
      .filter((predicate) => predicates.has(predicate) || isOfEncoding(predicate))
  })
}
