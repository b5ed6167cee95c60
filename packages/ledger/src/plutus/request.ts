import type { SlotConfig } from '../parameters/types.js'
import type { Resolution, ResolvedInput } from '../rules/resolution.js'
import type { ScriptUse } from '../rules/script-use.js'
import { encodeOutputReference } from '../transaction/output-reference.js'
import type { Script, Transaction } from '../transaction/types.js'
import type { EngineRequest } from './engine.js'

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
  }
}
