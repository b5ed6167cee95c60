import { outputReferenceKey } from '../../transaction/output-reference.js'
import type { Transaction } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'
import type { Resolution } from '../resolution.js'

/** UTXO: InputSetEmptyUTxO. */
export function validateInputsPresent({ body }: Transaction, findings: Findings): void {
  if (body.inputs.length > 0) return
  findings.add('InputSetEmptyUTxO', 'The transaction spends nothing, so it could be repeated at will')
}

/** UTXO: BabbageNonDisjointRefInputs, in ledger versions 9 and 10; later `validateScriptContexts`. */
export function validateDisjointInputs(
  { body }: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const { major } = parameters.ledgerVersion
  if (body.referenceInputs.length === 0 || major < 9 || major > 10) return
  const spent = new Set(body.inputs.map(outputReferenceKey))
  const common = body.referenceInputs.map(outputReferenceKey).filter((key) => spent.has(key))
  if (common.length === 0) return
  findings.add('BabbageNonDisjointRefInputs', 'An output is both spent and referred to', { inputs: common })
}

/** UTXO: BadInputsUTxO, for spent, collateral and reference inputs alike. */
export function validateInputsKnown({ missing }: Resolution, findings: Findings): void {
  if (missing.length === 0) return
  const inputs = missing.map(({ key }) => key)
  findings.add('BadInputsUTxO', `${inputs.length} of the inputs are unknown or spent`, { inputs })
}
