import { createRequire } from 'node:module'
import { scriptHash } from '@ratatosk/ledger'
import { encodePlutusData, type PlutusData } from '../datum/plutus-data.js'

/** A Plutus V3 script, ready for a witness or a reference script. */
export interface PlutusScript {
  readonly language: 'PlutusV3'
  /** A CBOR byte string around the flat program: what stands inside the byte string of a witness. */
  readonly bytes: Uint8Array
  /** 28 bytes: the payment credential and the policy. */
  readonly hash: Uint8Array
}

type Uplc = Pick<typeof import('@lucid-evolution/uplc'), 'apply_params_to_script'>

/** Applies a script of the blueprint to its parameters. */
export function applyParameters(compiledCode: Uint8Array, parameters: readonly PlutusData[]): PlutusScript {
  // Loaded with the first script that is asked for, as it compiles a megabyte of WebAssembly.
  const uplc: Uplc = createRequire(import.meta.url)('@lucid-evolution/uplc')
  const bytes = uplc.apply_params_to_script(encodePlutusData(parameters), compiledCode)
  return { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
}
