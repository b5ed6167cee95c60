import { CborReader } from '../cbor/reader.js'
import { CborWriter } from '../cbor/writer.js'
import type { SlotConfig } from '../parameters/types.js'
import { encodeOutputReference, outputReferenceKey } from '../transaction/output-reference.js'
import type { OutputReference, PlutusLanguage, Transaction, TransactionOutput } from '../transaction/types.js'
import { withDefiniteLengths } from './engines/definite-lengths.js'
import type { EngineRequest } from './engines/engine.js'
import type { ExecutionUnits, ResolvedOutputs } from './types.js'

/** The outputs that the inputs and reference inputs name, or the first that nothing is known of. */
export function resolveInputs(
  { body }: Transaction,
  utxos: ResolvedOutputs,
): { resolved: Map<OutputReference, TransactionOutput> } | { missing: string } {
  const resolved = new Map<OutputReference, TransactionOutput>()
  for (const reference of [...body.inputs, ...body.referenceInputs]) {
    const key = outputReferenceKey(reference)
    const output = utxos.get(key)
    if (output === undefined) return { missing: key }
    resolved.set(reference, output)
  }
  return { resolved }
}

export function engineRequest(
  transaction: Transaction,
  resolved: ReadonlyMap<OutputReference, TransactionOutput>,
  costModels: readonly BigInt64Array[],
  slots: SlotConfig,
): EngineRequest {
  return {
    // Copies: what crosses to a thread takes with it the whole buffer that it is a part of.
    transaction: Uint8Array.from(transaction.bytes),
    inputs: Array.from(resolved.keys(), encodeOutputReference),
    outputs: Array.from(resolved.values(), ({ bytes }) => Uint8Array.from(bytes)),
    costModels,
    slots: { zeroTime: slots.zeroTime, zeroSlot: slots.zeroSlot, slotLength: slots.slotLength },
    budget: declaredBudget(transaction),
  }
}

/**
 * The same request with the body and the outputs in definite lengths: another transaction id, so scripts see another
 * context, but one that an engine reads which knows only definite lengths. Witnesses stay: datums go by their hash.
 */
export function definiteRequest(request: EngineRequest): EngineRequest {
  const reader = new CborReader(request.transaction)
  reader.readArray()
  const body = nextItem(reader)
  const rest = [nextItem(reader), nextItem(reader), nextItem(reader)]
  const writer = new CborWriter(request.transaction.length).array(4).raw(withDefiniteLengths(body))
  for (const item of rest) writer.raw(item)
  const transaction = writer.toBytes()
  return { ...request, transaction, outputs: request.outputs.map(withDefiniteLengths) }
}

function nextItem(reader: CborReader): Uint8Array {
  const start = reader.position
  reader.skip()
  return reader.since(start)
}

function declaredBudget({ witnesses }: Transaction): ExecutionUnits {
  let memory = 0n
  let steps = 0n
  for (const { executionUnits } of witnesses.redeemers) {
    memory += executionUnits.memory
    steps += executionUnits.steps
  }
  return { memory, steps }
}

/** The languages of the scripts that the transaction brings or can reach through its inputs. */
export function reachableLanguages(
  { witnesses }: Transaction,
  resolved: ReadonlyMap<OutputReference, TransactionOutput>,
): ReadonlySet<PlutusLanguage> {
  const languages = new Set<PlutusLanguage>()
  for (const { language } of witnesses.scripts) if (language !== 'native') languages.add(language)
  for (const { referenceScript } of resolved.values()) {
    if (referenceScript === undefined || referenceScript.language === 'native') continue
    languages.add(referenceScript.language)
  }
  return languages
}
