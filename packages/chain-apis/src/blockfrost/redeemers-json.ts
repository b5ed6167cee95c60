import { toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  byReference,
  outputReferenceKey,
  type Rational,
  type Redeemer,
  type Transaction,
} from '@ratatosk/ledger'
import { stakeCredentialOf } from '../view/certificates.js'
import type { ChainView } from '../view/chain-view.js'
import { paymentCredential } from '../view/outputs.js'

export async function redeemersJson(chain: ChainView, transaction: Transaction) {
  const { memory, steps } = chain.parameters.executionPrices
  const scriptOf = await scriptsOf(chain, transaction)
  return transaction.witnesses.redeemers.flatMap((redeemer) => {
    const script = scriptOf(redeemer)
    if (script === undefined) return []
    const units = redeemer.executionUnits
    const hash = toHex(blake2b256(redeemer.data))
    return {
      tx_index: redeemer.index,
      purpose: redeemer.purpose,
      script_hash: script,
      redeemer_data_hash: hash,
      datum_hash: hash,
      unit_mem: String(units.memory),
      unit_steps: String(units.steps),
      fee: String(cost(memory, units.memory, steps, units.steps)),
    }
  })
}

/** The price of execution units in lovelace, rounded up. */
function cost(memoryPrice: Rational, memory: bigint, stepPrice: Rational, steps: bigint): bigint {
  const denominator = memoryPrice.denominator * stepPrice.denominator
  const numerator =
    memoryPrice.numerator * memory * stepPrice.denominator +
    stepPrice.numerator * steps * memoryPrice.denominator
  return (numerator + denominator - 1n) / denominator
}

/** The script of a redeemer. The ledger numbers inputs, policies and accounts in their order by bytes. */
async function scriptsOf(
  chain: ChainView,
  { body }: Transaction,
): Promise<(redeemer: Redeemer) => string | undefined> {
  const inputs = [...body.inputs].sort(byReference).map(outputReferenceKey)
  const outputs = await chain.outputs({ references: inputs }, { offset: 0, limit: inputs.length })
  const owners = new Map(outputs.map(({ key, output }) => [key, paymentCredential(output)]))
  const policies = [...body.mint.keys()].sort()
  const accounts = body.withdrawals.map(({ account }) => toHex(account.bytes)).sort()
  return ({ purpose, index }) => {
    if (purpose === 'spend') return owners.get(inputs[index] ?? '')
    if (purpose === 'mint') return policies[index]
    // Without the header of the address.
    if (purpose === 'reward') return accounts[index]?.slice(2)
    const certificate = purpose === 'cert' ? body.certificates[index] : undefined
    return certificate && toHex(stakeCredentialOf(certificate).hash)
  }
}
