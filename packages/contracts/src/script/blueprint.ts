import { readFileSync } from 'node:fs'
import { fromHex } from '@ratatosk/cbor'

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

/** A CBOR byte string that holds the flat program, not yet applied to its parameters. */
export function compiledCode(validator: ValidatorTitle): Uint8Array {
  const found = blueprint.validators.find(({ title }) => title === `${validator}.mint`)
  if (found === undefined) throw new ReferenceError(`The blueprint has no ${validator}`)
  return fromHex(found.compiledCode)
}
