import { CborReader } from '../cbor/reader.js'
import { CborWriter } from '../cbor/writer.js'
import type { SlotConfig } from '../parameters/types.js'
import type { Resolution, ResolvedInput } from '../rules/resolution.js'
import type { ScriptUse } from '../rules/script-use.js'
import { encodeOutputReference } from '../transaction/output-reference.js'
import type { Script, Transaction } from '../transaction/types.js'
import { withDefiniteLengths } from './engines/definite-lengths.js'
import type { EngineRequest } from './engines/engine.js'
import type { ExecutionUnits } from './types.js'

export type PlutusScript = Exclude<Script, { readonly language: 'native' }>

/** The Plutus scripts that are to run, each once. */
export function plutusScripts({ neededHashes, provided }: ScriptUse): readonly PlutusScript[] {
  const scripts: PlutusScript[] = []
  for (const hash of neededHashes) {
    const script = provided.get(hash)
    if (script !== undefined && script.language !== 'native') scripts.push(script)
  }
  return scripts
}

/** What scripts are shown: inputs and reference inputs, each once. Collateral they never see. */
export function visibleInputs({ inputs, referenceInputs }: Resolution): readonly ResolvedInput[] {
  const visible = new Map<string, ResolvedInput>()
  for (const input of [...inputs, ...referenceInputs]) visible.set(input.key, input)
  return [...visible.values()]
}

export function engineRequest(
  transaction: Transaction,
  inputs: readonly ResolvedInput[],
  costModels: readonly BigInt64Array[],
  slots: SlotConfig,
  protocolMajor: number,
): EngineRequest {
  return {
    // Copies: what crosses to a thread takes with it the whole buffer that it is a part of.
    transaction: Uint8Array.from(transaction.bytes),
    inputs: inputs.map(({ reference }) => encodeOutputReference(reference)),
    outputs: inputs.map(({ output }) => Uint8Array.from(output?.bytes ?? [])),
    costModels,
    slots: { zeroTime: slots.zeroTime, zeroSlot: slots.zeroSlot, slotLength: slots.slotLength },
    protocolMajor,
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
