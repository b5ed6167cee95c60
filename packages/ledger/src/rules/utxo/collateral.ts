import { toHex } from '@ratatosk/cbor'
import type { Transaction } from '../../transaction/types.js'
import { type AssetQuantities, addValue, valueToJson } from '../assets.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import type { Resolution } from '../resolution.js'

/**
 * UTXO, the collateral part of `feesOK`: ScriptsNotPaidUTxO, CollateralContainsNonADA,
 * InsufficientCollateral, IncorrectTotalCollateralField, NoCollateralInputs; with redeemers, for both values
 * of `is_valid`. An unknown collateral input leaves the rules that do not depend on it.
 */
export function validateCollateral(
  transaction: Transaction,
  { parameters }: RuleContext,
  { collateral }: Resolution,
  findings: Findings,
): void {
  if (transaction.witnesses.redeemers.length === 0) return
  const { body } = transaction
  if (collateral.length === 0) {
    findings.add('NoCollateralInputs', 'A transaction with redeemers needs collateral')
  }

  const locked = collateral.filter(({ output }) => {
    if (output === undefined) return false
    const { address } = output
    return address.kind !== 'byron' && address.kind !== 'reward' && address.payment.kind === 'script'
  })
  if (locked.length > 0) {
    findings.add('ScriptsNotPaidUTxO', 'Collateral is locked by a script', {
      inputs: locked.map(({ key, output }) => ({
        input: key,
        address: output ? toHex(output.address.bytes) : '',
      })),
    })
  }
  if (collateral.some(({ output }) => output === undefined)) return

  const assets: AssetQuantities = new Map()
  let balance = 0n
  for (const { output } of collateral) if (output) balance += addValue(assets, output.value, 1n)
  const { collateralReturn } = body
  if (collateralReturn) balance += addValue(assets, collateralReturn.value, -1n)

  if ([...assets.values()].some((quantity) => quantity !== 0n)) {
    findings.add('CollateralContainsNonADA', 'Native assets in the collateral are not all returned', {
      balance: valueToJson(balance, assets),
    })
  }
  const percentage = parameters.collateralPercentage
  if (balance * 100n < body.fee * percentage) {
    const required = (body.fee * percentage + 99n) / 100n
    findings.add(
      'InsufficientCollateral',
      `The collateral is ${balance} lovelace, ${required} are required`,
      {
        collateral: String(balance),
        requiredCollateral: String(required),
      },
    )
  }
  if (body.totalCollateral !== undefined && body.totalCollateral !== balance) {
    findings.add(
      'IncorrectTotalCollateralField',
      `The collateral is ${balance} lovelace, but the transaction states ${body.totalCollateral}`,
      { collateral: String(balance), totalCollateral: String(body.totalCollateral) },
    )
  }
}
