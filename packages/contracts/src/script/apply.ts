import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, scriptHash } from '@ratatosk/ledger'
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

/** The scripts that were applied last, by code and parameters, the oldest first. */
const applied = new Map<string, PlutusScript>()
const mostApplied = 32

/**
 * Applies a script of the blueprint to its parameters, and keeps the result: each application takes 80 ms and
 * about a megabyte of WebAssembly, which is never given back. The first one compiles the WebAssembly.
 */
export function applyParameters(compiledCode: Uint8Array, parameters: readonly PlutusData[]): PlutusScript {
  const data = encodePlutusData(parameters)
  const name = `${toHex(blake2b256(compiledCode))} ${toHex(data)}`
  const kept = applied.get(name)
  if (kept !== undefined) return kept
  const uplc: Uplc = createRequire(import.meta.url)('@lucid-evolution/uplc')
  const bytes = uplc.apply_params_to_script(data, compiledCode)
  const script: PlutusScript = { language: 'PlutusV3', bytes, hash: scriptHash('PlutusV3', bytes) }
  applied.set(name, script)
  const [oldest] = applied.keys()
  if (applied.size > mostApplied && oldest !== undefined) applied.delete(oldest)
  return script
}

/** The fields that this package reads of its CIP-57 blueprint. */
interface Blueprint {
  readonly validators: readonly { readonly title: string; readonly compiledCode: string }[]
}

const blueprint: Blueprint = JSON.parse(readFileSync(new URL('../../plutus.json', import.meta.url), 'utf8'))

export type ValidatorTitle =
  | 'state_queue'
  | 'operator_registry'
  | 'ledger_fraud'
  | 'transaction_fraud'
  | 'transaction_fraud_11'
  | 'witness_fraud'
  | 'summons'
  | 'bridge'
  | 'events'

/** A CBOR byte string that holds the flat program, not yet applied to its parameters. */
export function compiledCode(validator: ValidatorTitle): Uint8Array {
  const found = blueprint.validators.find(({ title }) => title === `${validator}.mint`)
  if (found === undefined) throw new ReferenceError(`The blueprint has no ${validator}`)
  return fromHex(found.compiledCode)
}
