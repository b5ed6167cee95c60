import {
  CborReader,
  CborWriter,
  decodeTransaction,
  outputReferenceKey,
  type ProtocolParameters,
  type Redeemer,
  type RedeemerPurpose,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Evaluation } from '../types.js'

const REDEEMERS = 5
const tags: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

/** What an evaluation reads. */
export interface EvaluationPart {
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** Outputs with those of the mempool. */
  readonly utxos: UtxoView
}

/**
 * Runs the scripts of a transaction whose budgets are not known yet: each is given all that a transaction may use.
 *
 * @throws EvaluatorBusyError, EvaluatorClosedError (rejects)
 */
export async function evaluateTransaction(
  { evaluator, parameters, slots, utxos }: EvaluationPart,
  transaction: Transaction,
  additional: ReadonlyMap<string, TransactionOutput>,
): Promise<Evaluation> {
  const overlapping = [...additional].filter(([key, output]) => {
    const known = utxos.get(key)
    return known !== undefined && Buffer.compare(known.bytes, output.bytes) !== 0
  })
  if (overlapping.length > 0) {
    return { kind: 'overlapping-outputs', references: overlapping.map(([key]) => key) }
  }
  const view: UtxoView = { get: (key) => utxos.get(key) ?? additional.get(key) }
  const named = [...transaction.body.inputs, ...transaction.body.referenceInputs].map(outputReferenceKey)
  const unknown = [...new Set(named)].filter((key) => view.get(key) === undefined)
  if (unknown.length > 0) return { kind: 'unknown-inputs', references: unknown }
  const generous = withLargestBudgets(transaction, parameters)
  const result = await evaluator.evaluate(generous, view, parameters, slots)
  return { kind: 'evaluated', transaction, result }
}

/** The same body, so the same transaction id, with witnesses whose redeemers declare the largest budget. */
function withLargestBudgets(transaction: Transaction, parameters: ProtocolParameters): Transaction {
  const { redeemers } = transaction.witnesses
  if (redeemers.length === 0) return transaction
  const reader = new CborReader(transaction.bytes)
  reader.readArray()
  const body = next(reader)
  next(reader)
  const rest = [next(reader), next(reader)]
  const writer = new CborWriter(transaction.bytes.length + 64)
  writer.array(4).raw(body)
  writeWitnesses(writer, transaction.witnesses.bytes, redeemers, parameters.maxTransactionExecutionUnits)
  for (const item of rest) writer.raw(item)
  return decodeTransaction(writer.toBytes())
}

function writeWitnesses(
  writer: CborWriter,
  witnesses: Uint8Array,
  redeemers: readonly Redeemer[],
  { memory, steps }: ProtocolParameters['maxTransactionExecutionUnits'],
): void {
  const reader = new CborReader(witnesses)
  const count = reader.readMap()
  const entries: [number, Uint8Array][] = []
  for (let i = 0; reader.hasNext(count, i); i++) {
    const key = reader.readUint(0xffff)
    const value = next(reader)
    if (key !== REDEEMERS) entries.push([key, value])
  }
  writer.map(entries.length + 1)
  for (const [key, value] of entries) writer.uint(key).raw(value)
  writer.uint(REDEEMERS).array(redeemers.length)
  for (const { purpose, index, data } of redeemers) {
    writer.array(4).uint(tags.indexOf(purpose)).uint(index).raw(data).array(2).uint(memory).uint(steps)
  }
}

function next(reader: CborReader): Uint8Array {
  const start = reader.position
  reader.skip()
  return reader.since(start)
}
