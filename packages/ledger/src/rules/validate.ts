import type { Transaction } from '../transaction/types.js'
import { type RuleContext, resolve, type UtxoView } from './context.js'
import { type Failures, Findings } from './predicates.js'
import { scriptUse } from './script-use.js'
import {
  allOutputs,
  validateCollateral,
  validateCollateralCount,
  validateConservation,
  validateDisjointInputs,
  validateExecutionUnits,
  validateFee,
  validateForecast,
  validateInputsKnown,
  validateInputsPresent,
  validateInterval,
  validateNetworks,
  validateOutputs,
  validateReferenceScriptsSize,
  validateSize,
  validateTreasuryValue,
} from './utxo.js'
import { type PhaseTwo, validateScripts } from './utxos.js'
import {
  signatories,
  validateAuxiliaryData,
  validateDatums,
  validateKeyWitnesses,
  validateNativeScripts,
  validateRedeemers,
  validateScriptIntegrity,
  validateScriptWitnesses,
  validateWellFormedScripts,
  validateWitnessSignatures,
} from './utxow.js'

/**
 * Validates the rules that need no unspent outputs: sizes, limits, outputs, networks, auxiliary data,
 * well-formed scripts, signatures, and the fee without reference scripts, which is a lower bound.
 *
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 *
 * @example
 * const failures = validateStateless(decodeTransaction(bytes), { parameters, networkId: 0, slot: 0n })
 * for (const { predicate, message } of failures) console.log(predicate, message)
 */
export function validateStateless(transaction: Transaction, context: RuleContext): Failures {
  return [...validateUnsigned(transaction, context), ...validateSignatures(transaction)]
}

/**
 * Validates the rules of {@link validateStateless} except the signatures, which cost more than all others.
 *
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 */
export function validateUnsigned(transaction: Transaction, context: RuleContext): Failures {
  const findings = new Findings()
  validateFee(transaction, context, 0, findings)
  validateItself(transaction, context, findings)
  return findings.failures
}

/**
 * Verifies every signature of a transaction. The ledger does not ask whether a signature is needed: one that
 * is invalid makes the transaction invalid.
 *
 * @returns `InvalidWitnessesUTXOW` with the public keys of all invalid signatures; empty if there is none
 */
export function validateSignatures(transaction: Transaction): Failures {
  const findings = new Findings()
  validateWitnessSignatures(transaction, findings)
  return findings.failures
}

/**
 * Validates the rules of phase 1 that need the unspent outputs or the slot: known inputs, value, validity
 * interval, key witnesses, scripts, datums, redeemers, script data hash, collateral, and the fee with
 * reference scripts. Rules that depend on an unknown input are not validated; a failures with only
 * `BadInputsUTxO` can therefore change with time.
 *
 * @param utxos unspent outputs by `outputReferenceKey`; others than those of the transaction may be among
 *   them
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 */
export function validateStateful(transaction: Transaction, utxos: UtxoView, context: RuleContext): Failures {
  const findings = new Findings()
  validateWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/**
 * Validates all of phase 1: the rules of {@link validateStateless} and {@link validateStateful}. Each broken
 * rule is reported once.
 */
export function validatePhaseOne(transaction: Transaction, utxos: UtxoView, context: RuleContext): Failures {
  const findings = new Findings()
  validateItself(transaction, context, findings)
  validateWitnessSignatures(transaction, findings)
  validateWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/**
 * Validates both phases: the rules of layer 1, except those that need stake or governance state. Phase 2 is
 * validated only if phase 1 finds nothing.
 *
 * @throws ScriptsNotRunError (rejects) if scripts have to run and cannot
 * @example
 * const failures = await validate(transaction, utxos, context, { evaluator, slots })
 */
export async function validate(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
  phaseTwo?: PhaseTwo,
): Promise<Failures> {
  const failures = validatePhaseOne(transaction, utxos, context)
  return failures.length > 0 ? failures : validateScripts(transaction, utxos, context, phaseTwo)
}

function validateItself(transaction: Transaction, context: RuleContext, findings: Findings): void {
  const outputs = allOutputs(transaction)
  validateInputsPresent(transaction, findings)
  validateDisjointInputs(transaction, context, findings)
  validateSize(transaction, context, findings)
  validateExecutionUnits(transaction, context, findings)
  validateCollateralCount(transaction, context, findings)
  validateOutputs(outputs, context, findings)
  validateNetworks(transaction, outputs, context, findings)
  validateTreasuryValue(transaction, context, findings)
  validateAuxiliaryData(transaction, context, findings)
  validateWellFormedScripts(transaction, outputs, context, findings)
}

function validateWithOutputs(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
  findings: Findings,
): void {
  const resolution = resolve(transaction, utxos)
  const use = scriptUse(transaction, resolution)
  const signed = signatories(transaction)
  validateInputsKnown(resolution, findings)
  validateInterval(transaction, context, findings)
  validateForecast(transaction, context, findings)
  validateFee(transaction, context, use.referenceScriptsSize, findings)
  validateReferenceScriptsSize(transaction, context, use.referenceScriptsSize, findings)
  if (use.complete) validateConservation(transaction, context, resolution, findings)
  validateCollateral(transaction, context, resolution, findings)
  validateKeyWitnesses(transaction, signed, resolution, findings)
  validateScriptWitnesses(use, findings)
  validateNativeScripts(transaction, signed, use, findings)
  validateDatums(transaction, resolution, use, findings)
  validateRedeemers(transaction, use, findings)
  validateScriptIntegrity(transaction, context, use, findings)
}
