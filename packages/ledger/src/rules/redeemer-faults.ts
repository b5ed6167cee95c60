import type { PlutusLanguage, Redeemer, Transaction } from '../transaction/types.js'
import type { RuleContext, UtxoView } from './context.js'
import { resolve } from './resolution.js'
import { scriptUse } from './script-use.js'
import { scriptContextErrors } from './utxos.js'

/**
 * Why the script of a redeemer cannot be run.
 *
 * - `Extraneous`: no script of the transaction is run for the redeemer.
 * - `MissingScript`: neither the transaction nor its outputs have the Plutus script.
 * - `UnknownInputs`: the script would see outputs that are unknown, by `outputReferenceKey`.
 * - `NoCostModel`, `BadTranslation`: as in the ledger's CollectErrors.
 */
export type RedeemerFault =
  | { readonly kind: 'Extraneous' }
  | { readonly kind: 'MissingScript'; readonly scriptHash: string }
  | { readonly kind: 'UnknownInputs'; readonly references: readonly string[] }
  | { readonly kind: 'NoCostModel'; readonly language: PlutusLanguage }
  | { readonly kind: 'BadTranslation'; readonly reason: string }

/**
 * Finds the redeemers whose scripts cannot be run, as the ledger's `evalTxExUnits` does, in the order of the
 * transaction's redeemers. An unknown input is named rather than the redeemer that points to it.
 */
export function redeemerFaults(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
): { readonly redeemer: Redeemer; readonly fault: RedeemerFault }[] {
  const { redeemers } = transaction.witnesses
  if (redeemers.length === 0) return []
  const resolution = resolve(transaction, utxos)
  const use = scriptUse(transaction, resolution)
  const seen = [...resolution.inputs, ...resolution.referenceInputs]
  const references = [...new Set(seen.flatMap(({ key, output }) => (output === undefined ? [key] : [])))]
  const errors = scriptContextErrors(transaction, context, resolution, use)

  function faultOf({ purpose, index }: Redeemer): RedeemerFault | undefined {
    const input = purpose === 'spend' ? resolution.inputs[index] : undefined
    if (input !== undefined && input.output === undefined) return { kind: 'UnknownInputs', references }
    const need = use.needs.find((each) => each.purpose === purpose && each.index === index)
    if (need === undefined) return { kind: 'Extraneous' }
    const script = use.provided.get(need.scriptHash)
    if (script === undefined || script.language === 'native') {
      return { kind: 'MissingScript', scriptHash: need.scriptHash }
    }
    const { language } = script
    const own = errors.filter((error) => error.language === language)
    if (own.some(({ error }) => error === 'NoCostModel')) return { kind: 'NoCostModel', language }
    if (references.length > 0) return { kind: 'UnknownInputs', references }
    const [first] = own
    return first && { kind: 'BadTranslation', reason: String(first.reason) }
  }

  return redeemers.flatMap((redeemer) => {
    const fault = faultOf(redeemer)
    return fault === undefined ? [] : [{ redeemer, fault }]
  })
}
