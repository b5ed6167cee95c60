import {
  type Assets,
  outputReferenceKey,
  type Transaction,
  type UtxoView,
  type Value,
} from '@ratatosk/ledger'
import { deposits } from '../../view/certificates.js'

/** The value a transaction consumes: inputs, minted assets, withdrawals and refunded deposits. */
export function consumedValue({ body }: Transaction, utxos: UtxoView, keyDeposit: bigint): Value {
  const sum = createSum()
  for (const reference of body.inputs) {
    const output = utxos.get(outputReferenceKey(reference))
    if (output !== undefined) sum.add(output.value)
  }
  for (const { lovelace } of body.withdrawals) sum.add({ lovelace, assets: new Map() })
  sum.add({ lovelace: deposits(body, keyDeposit).refunded, assets: new Map() })
  sum.add({ lovelace: 0n, assets: ofSign(body.mint, 1n) })
  return sum.value()
}

/** The value a transaction produces: outputs, fee, donation, paid deposits and burnt assets. */
export function producedValue({ body }: Transaction, keyDeposit: bigint): Value {
  const sum = createSum()
  for (const { value } of body.outputs) sum.add(value)
  sum.add({
    lovelace: body.fee + body.treasuryDonation + deposits(body, keyDeposit).paid,
    assets: ofSign(body.mint, -1n),
  })
  return sum.value()
}

/** The minted (1) or burnt (−1) assets, as positive quantities. */
function ofSign(mint: Assets, sign: 1n | -1n): Assets {
  return new Map(
    Array.from(mint, ([policy, names]) => [
      policy,
      new Map(
        Array.from(names, ([name, quantity]) => [name, quantity * sign] as const).filter(
          ([, quantity]) => quantity > 0n,
        ),
      ),
    ]),
  )
}

function createSum() {
  let total = 0n
  const held = new Map<string, Map<string, bigint>>()
  return {
    add({ lovelace, assets }: Value): void {
      total += lovelace
      for (const [policy, names] of assets) {
        const sums = held.get(policy) ?? new Map<string, bigint>()
        for (const [name, quantity] of names) sums.set(name, (sums.get(name) ?? 0n) + quantity)
        if (sums.size > 0) held.set(policy, sums)
      }
    },
    value: (): Value => ({ lovelace: total, assets: held }),
  }
}
