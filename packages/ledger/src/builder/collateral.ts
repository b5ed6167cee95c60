import { minimumLovelace, outputReferenceKey, type ProtocolParameters, type Utxo } from '../index.js'
import { toOutput } from './encode-output.js'
import { WalletError } from './errors.js'
import { addQuantity, addValue, lovelaceUnit, type Quantities, toValue } from './quantities.js'

export interface Collateral {
  readonly inputs: readonly Utxo[]
  /** Lovelace that is lost if a script fails. */
  readonly total: bigint
  /** The collateral return output, encoded; absent when the whole inputs are at stake. */
  readonly change?: Uint8Array
}

/**
 * Chooses collateral for a fee. Prefers outputs that the transaction spends anyway, so that no further output
 * is withheld from other transactions. Throws `WALLET_INSUFFICIENT_FUNDS`.
 */
export function chooseCollateral(
  spent: readonly Utxo[],
  funds: readonly Utxo[],
  fee: bigint,
  changeAddress: Uint8Array,
  parameters: ProtocolParameters,
): Collateral {
  const required = (fee * parameters.collateralPercentage + 99n) / 100n
  for (const candidates of [spent, funds]) {
    const found = cover(candidates, required, changeAddress, parameters)
    if (found) return found
  }
  throw new WalletError('WALLET_INSUFFICIENT_FUNDS', `The wallet has no collateral of ${required} lovelace`, {
    missing: new Map([[lovelaceUnit, required]]),
  })
}

function cover(
  candidates: readonly Utxo[],
  required: bigint,
  changeAddress: Uint8Array,
  parameters: ProtocolParameters,
): Collateral | undefined {
  const inputs: Utxo[] = []
  const rest: Quantities = new Map()
  addQuantity(rest, lovelaceUnit, -required)
  for (const utxo of [...candidates].sort(byWorth)) {
    if (inputs.length >= parameters.maxCollateralInputs) return undefined
    inputs.push(utxo)
    addValue(rest, utxo.output.value)
    if (rest.size === 0) return { inputs, total: required }
    if ((rest.get(lovelaceUnit) ?? 0n) <= 0n) continue
    const change = toOutput({ address: changeAddress, value: toValue(rest), datum: { kind: 'none' } })
    if (change.value.lovelace >= minimumLovelace(change, parameters)) {
      return { inputs, total: required, change: change.bytes }
    }
  }
  return undefined
}

/** Pure-ada outputs first, then by descending lovelace; ties by reference, for a deterministic order. */
function byWorth(a: Utxo, b: Utxo): number {
  const [x, y] = [a.output.value, b.output.value]
  if ((x.assets.size === 0) !== (y.assets.size === 0)) return x.assets.size === 0 ? -1 : 1
  if (x.lovelace !== y.lovelace) return x.lovelace > y.lovelace ? -1 : 1
  return outputReferenceKey(a.reference) < outputReferenceKey(b.reference) ? -1 : 1
}
