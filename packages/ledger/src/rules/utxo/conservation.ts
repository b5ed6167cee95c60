import type { Transaction } from '../../transaction/types.js'
import { type AssetQuantities, addAssets, addValue, valueToJson } from '../assets.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import type { Resolution } from '../resolution.js'

/**
 * UTXO: ValueNotConservedUTxO. Consumed: inputs, mint, withdrawals, refunds; produced: outputs, burns, fee,
 * deposits, donation. A certificate without its deposit pays the current key deposit. A pool registration
 * pays the pool deposit only if the pool is new: that is not known here, so both sums pass.
 */
export function validateConservation(
  { body }: Transaction,
  { parameters }: RuleContext,
  { inputs }: Resolution,
  findings: Findings,
): void {
  const surplus: AssetQuantities = new Map()
  let consumed = 0n
  let produced = body.fee + body.treasuryDonation
  for (const { output } of inputs) if (output) consumed += addValue(surplus, output.value, 1n)
  for (const output of body.outputs) produced -= addValue(surplus, output.value, -1n)
  addAssets(surplus, body.mint, 1n)

  for (const { lovelace } of body.withdrawals) consumed += lovelace
  for (const { deposit } of body.proposalProcedures) produced += deposit
  let newPools = 0
  for (const certificate of body.certificates) {
    if (certificate.deposit !== undefined) {
      if (certificate.deposit > 0n) produced += certificate.deposit
      else consumed -= certificate.deposit
    } else if (certificate.kind === 'stake_registration') produced += parameters.keyDeposit
    else if (certificate.kind === 'stake_deregistration') consumed += parameters.keyDeposit
    else if (certificate.kind === 'pool_registration') newPools += 1
  }

  const missing = consumed - produced
  const balanced = missing === 0n || paysForPools(missing, newPools, parameters.poolDeposit)
  if (balanced && isEmpty(surplus)) return
  findings.add('ValueNotConservedUTxO', 'What the transaction consumes is not what it produces', {
    consumed: { lovelace: String(consumed) },
    produced: { lovelace: String(produced) },
    surplus: valueToJson(consumed - produced, surplus),
  })
}

/** Whether the difference equals the deposits of some of the registered pools. */
function paysForPools(missing: bigint, pools: number, poolDeposit: bigint): boolean {
  if (pools === 0 || missing < 0n || poolDeposit === 0n) return false
  return missing % poolDeposit === 0n && missing / poolDeposit <= BigInt(pools)
}

function isEmpty(quantities: AssetQuantities): boolean {
  for (const quantity of quantities.values()) if (quantity !== 0n) return false
  return true
}
