import { partsOf } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import {
  type Asset,
  type AssetPlace,
  type OutputPlace,
  openRecord,
  openTransaction,
  type ResolvedOutputs,
  type TransactionFraudProof,
} from '@ratatosk/protocol/fraud'
import type { TestBlock } from '../blocks.js'
import { blockWith, type Plan } from './transactions.js'

/** @param position of the transaction; the first by default */
export type Prove = (block: TestBlock, position?: number) => TransactionFraudProof

/** The outputs of a transaction's inputs; `count` limits how many are shown. */
export function resolvedOf(block: TestBlock, count?: number, position = 0): ResolvedOutputs {
  const { inputs, referenceInputs } = partsOf(block.transactions[position]!)
  const outputs = [...inputs, ...referenceInputs].map(
    (one) => block.outputBefore!(encodeOutputReference(one))!,
  )
  const shown = count ?? inputs.length
  return {
    outputs: outputs.slice(0, shown),
    hashes: concatBytes(...outputs.slice(shown).map(blake2b256)),
  }
}

const witnessSetOf = (block: TestBlock, position = 0): Uint8Array =>
  partsOf(block.transactions[position]!).witnessSet

const transactionOf = (block: TestBlock, position = 0) => openTransaction(block, position)

export const value =
  (asset: Asset = {}): Prove =>
  (block, position) => ({
    fraud: 'valueNotPreserved',
    transaction: transactionOf(block, position),
    resolved: resolvedOf(block, undefined, position),
    asset,
  })

export const fee =
  (auxiliaryData?: Uint8Array, shown?: number): Prove =>
  (block, position) => ({
    fraud: 'feeTooSmall',
    transaction: transactionOf(block, position),
    witnessSet: witnessSetOf(block, position),
    ...(auxiliaryData && { auxiliaryData }),
    ...(shown !== undefined && { resolved: resolvedOf(block, shown, position) }),
  })

export const output =
  (fraud: 'outputTooSmall' | 'outputOnOtherNetwork', place: OutputPlace): Prove =>
  (block, position) => ({ fraud, transaction: transactionOf(block, position), output: place })

export const strangeOutput =
  (place: OutputPlace, asset: AssetPlace = { policy: 0, name: 0 }): Prove =>
  (block, position) => ({
    fraud: 'strangeOutput',
    transaction: transactionOf(block, position),
    output: place,
    asset,
  })

export const plain =
  (fraud: 'outsideInterval' | 'wrongNetwork' | 'forbiddenWithdrawal' | 'noInputs'): Prove =>
  (block, position) => ({ fraud, transaction: transactionOf(block, position) })

export const field =
  (key: number): Prove =>
  (block, position) => ({ fraud: 'forbiddenField', transaction: transactionOf(block, position), key })

export const both =
  (input: number, referenceInput: number): Prove =>
  (block, position) => ({
    fraud: 'inputIsReferenceInput',
    transaction: transactionOf(block, position),
    input,
    referenceInput,
  })

export const body: Prove = (block, position) => ({
  fraud: 'unreadablePart',
  part: transactionOf(block, position),
})

export const witnesses: Prove = (block, position) => ({
  fraud: 'unreadablePart',
  part: { record: openRecord(block, position ?? 0), witnessSet: witnessSetOf(block, position) },
})

/** The outputs that inputs stand for are more than layer 1 can read. */
export const resolved: Prove = (block, position) => ({
  fraud: 'unreadablePart',
  part: {
    record: openRecord(block, position ?? 0),
    resolved: resolvedOf(block, undefined, position),
  },
})

export const reference =
  (set: 'inputs' | 'collateralInputs' | 'referenceInputs', index: number): Prove =>
  (block, position) => ({
    fraud: 'unreadableReference',
    transaction: transactionOf(block, position),
    set,
    index,
  })

const partOf = (of: 'body' | 'witness set', block: TestBlock, position = 0) =>
  of === 'body'
    ? transactionOf(block, position)
    : { record: openRecord(block, position), witnessSet: witnessSetOf(block, position) }

export const malformed =
  (of: 'body' | 'witness set'): Prove =>
  (block, position) => ({ fraud: 'malformedPart', part: partOf(of, block, position) })

/** @param key the first byte of the field's key */
export const strangeField =
  (of: 'body' | 'witness set', key: number, asset: AssetPlace = { policy: 0, name: 0 }): Prove =>
  (block, position) => ({ fraud: 'strangeField', part: partOf(of, block, position), key, asset })

/** @param same two parts that are equal */
export const strangeItem =
  (of: 'body' | 'witness set', path: readonly number[], same?: readonly [number, number]): Prove =>
  (block, position) => ({
    fraud: 'strangeItem',
    part: partOf(of, block, position),
    path,
    ...(same && { same }),
  })

export const strangeWitness =
  (isBootstrap: boolean, index: number): Prove =>
  (block, position) => ({
    fraud: 'strangeWitness',
    record: openRecord(block, position ?? 0),
    witnessSet: witnessSetOf(block, position),
    isBootstrap,
    index,
  })

export const excessive =
  (of: 'body' | 'witness set'): Prove =>
  (block, position) => ({ fraud: 'tooMany', part: partOf(of, block, position) })

export const repeated =
  (set: 'inputs' | 'collateralInputs' | 'referenceInputs', index: number, other: number): Prove =>
  (block, position) => ({
    fraud: 'repeatedReference',
    transaction: transactionOf(block, position),
    set,
    index,
    other,
  })

export const prove = {
  value,
  fee,
  output,
  plain,
  field,
  both,
  body,
  witnesses,
  resolved,
  reference,
  malformed,
  excessive,
  strangeField,
  strangeItem,
  strangeOutput,
  strangeWitness,
  repeated,
}

/** A block that breaks one rule, the proof of it, and the same block without the breach. */
export interface TransactionLie {
  readonly what: string
  readonly block: TestBlock
  readonly twin: TestBlock
  readonly prove: Prove
  readonly isDecoded: boolean
}

export const lie = (
  what: string,
  plan: Plan,
  twin: Plan,
  prove: Prove,
  isDecoded = true,
): TransactionLie => ({
  what,
  block: blockWith(plan),
  twin: blockWith(twin),
  prove,
  isDecoded,
})
