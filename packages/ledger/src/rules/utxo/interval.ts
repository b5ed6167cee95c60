import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings, Json } from '../failures.js'

/** UTXO: OutsideValidityIntervalUTxO. The lower bound is inclusive, the upper exclusive. */
export function validateInterval({ body }: Transaction, { slot }: RuleContext, findings: Findings): void {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  const early = invalidBefore !== undefined && slot < invalidBefore
  const late = invalidHereafter !== undefined && slot >= invalidHereafter
  if (!early && !late) return
  const message = late
    ? `The transaction was valid before slot ${invalidHereafter}, the slot is ${slot}`
    : `The transaction is valid from slot ${invalidBefore} on, the slot is ${slot}`
  const details: { [key: string]: Json } = { slot: String(slot) }
  if (invalidBefore !== undefined) details.invalidBefore = String(invalidBefore)
  if (invalidHereafter !== undefined) details.invalidHereafter = String(invalidHereafter)
  findings.add('OutsideValidityIntervalUTxO', message, details)
}

/** UTXO: OutsideForecast. With redeemers, the upper bound must be convertible to a time for scripts. */
export function validateForecast(transaction: Transaction, context: RuleContext, findings: Findings): void {
  const { invalidHereafter } = transaction.body.validityInterval
  const horizon = context.forecastHorizon
  if (horizon === undefined || invalidHereafter === undefined) return
  if (transaction.witnesses.redeemers.length === 0 || invalidHereafter <= horizon) return
  findings.add(
    'OutsideForecast',
    `The time of slot ${invalidHereafter} is not known yet, because the forecast ends at slot ${horizon}`,
    { slot: String(invalidHereafter), horizon: String(horizon) },
  )
}
