import { isDeepStrictEqual } from 'node:util'
import { CborReader, CborWriter, toHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  forecastHorizon,
  type ProtocolParameters,
  type Redeemer,
  type RedeemerPurpose,
  redeemerFaults,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { ScriptEvaluation } from '../view/chain-view.js'

/** Key of the redeemers in the witness set (Conway CDDL). */
const redeemersKey = 5
/** Redeemer tags in the order of the Conway CDDL. */
const redeemerTags: readonly RedeemerPurpose[] = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose']

export interface EvaluationContext {
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** 0 for test networks, 1 for mainnet. */
  readonly networkId: number
  /** The current slot. */
  readonly slot: bigint
  /** Unspent outputs, including those created in the mempool. */
  readonly utxos: UtxoView
}

/**
 * Runs the scripts of a transaction whose budgets are not known yet. Each script may use the execution units
 * of a whole transaction.
 *
 * @param additional outputs that `utxos` does not have, by output reference
 * @param prefersAdditional whether they replace outputs of `utxos`
 * @throws {EvaluatorError} (rejects) `EVALUATOR_BUSY` or `EVALUATOR_CLOSED`
 */
export async function evaluateTransaction(
  { evaluator, parameters, slots, networkId, slot, utxos }: EvaluationContext,
  transaction: Transaction,
  additional: ReadonlyMap<string, TransactionOutput>,
  prefersAdditional = false,
): Promise<Exclude<ScriptEvaluation, { kind: 'malformed' | 'busy' }>> {
  const overlapping = [...additional].filter(([key, output]) => {
    const known = prefersAdditional ? undefined : utxos.get(key)
    return known !== undefined && !isDeepStrictEqual(contentOf(known), contentOf(output))
  })
  if (overlapping.length > 0) {
    return { kind: 'overlapping-outputs', references: overlapping.map(([key]) => key) }
  }
  const view: UtxoView = { get: (key) => additional.get(key) ?? utxos.get(key) }
  const context = { parameters, networkId, slot, forecastHorizon: forecastHorizon(slot) }
  const faults = redeemerFaults(transaction, view, context)
  if (faults.length > 0) {
    return {
      kind: 'faulty-redeemers',
      faults: faults.map(({ redeemer: { purpose, index }, fault }) => ({ purpose, index, fault })),
    }
  }
  const result = await evaluator.evaluate(
    withMaximumBudgets(transaction, parameters),
    view,
    parameters,
    slots,
  )
  return { kind: 'evaluated', transaction, result }
}

/** The content of an output in any encoding: CML, for example, writes a datum hash in Alonzo's format. */
function contentOf({ address, value, datum, referenceScript }: TransactionOutput) {
  return {
    address: toHex(address.bytes),
    lovelace: value.lovelace,
    assets: value.assets,
    datum:
      datum.kind === 'none' ? '' : `${datum.kind} ${toHex(datum.kind === 'hash' ? datum.hash : datum.data)}`,
    script: referenceScript && toHex(referenceScript.hash),
  }
}

/** The same body, hence the same transaction id, with redeemers that declare the maximum budget. */
function withMaximumBudgets(transaction: Transaction, parameters: ProtocolParameters): Transaction {
  const { redeemers } = transaction.witnesses
  if (redeemers.length === 0) return transaction
  const reader = new CborReader(transaction.bytes)
  reader.readArray()
  const body = readItem(reader)
  readItem(reader)
  const rest = [readItem(reader), readItem(reader)]
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
    const value = readItem(reader)
    if (key !== redeemersKey) entries.push([key, value])
  }
  writer.map(entries.length + 1)
  for (const [key, value] of entries) writer.uint(key).raw(value)
  writer.uint(redeemersKey).array(redeemers.length)
  for (const { purpose, index, data } of redeemers) {
    writer.array(4).uint(redeemerTags.indexOf(purpose)).uint(index).raw(data)
    writer.array(2).uint(memory).uint(steps)
  }
}

/** The next item as it is encoded. */
function readItem(reader: CborReader): Uint8Array {
  const start = reader.position
  reader.skip()
  return reader.since(start)
}
