import { createRequire } from 'node:module'
import { scriptHash } from '@ratatosk/ledger'
import { encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'

/** A Plutus V3 script for a witness set or a reference script. */
export interface PlutusScript {
  readonly language: 'PlutusV3'
  /** A CBOR byte string that holds the flat program: the content of the byte string in a witness set. */
  readonly bytes: Uint8Array
  /** 28 bytes: payment credential and policy id. */
  readonly hash: Uint8Array
}

type Uplc = Pick<typeof import('@lucid-evolution/uplc'), 'apply_params_to_script'>

/** Applies a script of the blueprint to its parameters. The first call compiles a megabyte of WebAssembly. */
export function applyParameters(compiledCode: Uint8Array, parameters: readonly PlutusData[]): PlutusScript {
  const uplc: Uplc = createRequire(import.meta.url)('@lucid-evolution/uplc')
  const bytes = uplc.apply_params_to_script(encodePlutusData(parameters), compiledCode)
  return { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
}
