import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'

/** LEDGER: ConwayTreasuryValueMismatch, if the treasury is known; for transactions marked valid only. */
export function validateTreasuryValue(
  { body, isValid }: Transaction,
  { treasury }: RuleContext,
  findings: Findings,
): void {
  if (!isValid || treasury === undefined || body.currentTreasury === undefined) return
  if (body.currentTreasury === treasury) return
  findings.add('ConwayTreasuryValueMismatch', `The treasury holds ${treasury} lovelace`, {
    supplied: String(body.currentTreasury),
    expected: String(treasury),
  })
}
