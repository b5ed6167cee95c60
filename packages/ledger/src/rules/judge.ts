import type { Transaction } from '../transaction/types.js'
import type { RuleContext, UtxoView } from './context.js'
import { resolve } from './resolution.js'
import { scriptUse } from './script-use.js'
import { judgeCollateral } from './utxo/collateral.js'
import { judgeConservation } from './utxo/conservation.js'
import { judgeFee } from './utxo/fee.js'
import { judgeDisjointInputs, judgeInputsKnown, judgeInputsPresent } from './utxo/inputs.js'
import { judgeForecast, judgeInterval } from './utxo/interval.js'
import {
  judgeCollateralCount,
  judgeExecutionUnits,
  judgeReferenceScriptsSize,
  judgeSize,
} from './utxo/limits.js'
import { judgeNetworks } from './utxo/networks.js'
import { allOutputs, judgeOutputs } from './utxo/outputs.js'
import { judgeTreasuryValue } from './utxo/treasury.js'
import { judgeScripts, type PhaseTwo } from './utxos/judge-scripts.js'
import { judgeAuxiliaryData } from './utxow/auxiliary-data.js'
import { judgeDatums } from './utxow/datums.js'
import { judgeKeyWitnesses, signatories } from './utxow/key-witnesses.js'
import { judgeNativeScripts } from './utxow/native-scripts.js'
import { judgeRedeemers } from './utxow/redeemers.js'
import { judgeScriptIntegrity } from './utxow/script-integrity.js'
import { judgeScriptWitnesses } from './utxow/scripts.js'
import { judgeWitnessSignatures } from './utxow/signatures.js'
import { judgeWellFormedScripts } from './utxow/well-formed-scripts.js'
import { Findings, type Verdict } from './verdict.js'

/**
 * Judges the rules that need no unspent outputs: sizes, limits, outputs, networks, auxiliary data,
 * well-formed scripts, signatures, and the fee without reference scripts, which is a lower bound.
 *
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 *
 * @example
 * const verdict = judgeStateless(decodeTransaction(bytes), { parameters, networkId: 0, slot: 0n })
 * for (const { predicate, message } of verdict) console.log(predicate, message)
 */
export function judgeStateless(transaction: Transaction, context: RuleContext): Verdict {
  return [...judgeUnsigned(transaction, context), ...judgeSignatures(transaction)]
}

/**
 * Judges the rules of {@link judgeStateless} except the signatures, which cost more than all others.
 *
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 */
export function judgeUnsigned(transaction: Transaction, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeFee(transaction, context, 0, findings)
  judgeItself(transaction, context, findings)
  return findings.failures
}

/**
 * Verifies every signature of a transaction. The ledger does not ask whether a signature is needed: one that
 * is invalid makes the transaction invalid.
 *
 * @returns `InvalidWitnessesUTXOW` with the public keys of all invalid signatures; empty if there is none
 */
export function judgeSignatures(transaction: Transaction): Verdict {
  const findings = new Findings()
  judgeWitnessSignatures(transaction, findings)
  return findings.failures
}

/**
 * Judges the rules of phase 1 that need the unspent outputs or the slot: known inputs, value, validity
 * interval, key witnesses, scripts, datums, redeemers, script data hash, collateral, and the fee with
 * reference scripts. Rules that depend on an unknown input are not judged; a verdict with only
 * `BadInputsUTxO` can therefore change with time.
 *
 * @param utxos unspent outputs by `outputReferenceKey`; others than those of the transaction may be among
 *   them
 * @returns every broken rule, with the predicate names of the Haskell ledger; empty if there is none
 */
export function judgeStateful(transaction: Transaction, utxos: UtxoView, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/**
 * Judges all of phase 1: the rules of {@link judgeStateless} and {@link judgeStateful}. Each broken rule is
 * reported once.
 */
export function judgePhaseOne(transaction: Transaction, utxos: UtxoView, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeItself(transaction, context, findings)
  judgeWitnessSignatures(transaction, findings)
  judgeWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/**
 * Judges both phases: the rules of layer 1, except those that need stake or governance state. Phase 2 is
 * judged only if phase 1 finds nothing.
 *
 * @throws ScriptsNotJudgedError (rejects) if scripts have to run and cannot
 * @example
 * const verdict = await judge(transaction, utxos, context, { evaluator, slots })
 */
export async function judge(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
  phaseTwo?: PhaseTwo,
): Promise<Verdict> {
  const verdict = judgePhaseOne(transaction, utxos, context)
  return verdict.length > 0 ? verdict : judgeScripts(transaction, utxos, context, phaseTwo)
}

function judgeItself(transaction: Transaction, context: RuleContext, findings: Findings): void {
  const outputs = allOutputs(transaction)
  judgeInputsPresent(transaction, findings)
  judgeDisjointInputs(transaction, context, findings)
  judgeSize(transaction, context, findings)
  judgeExecutionUnits(transaction, context, findings)
  judgeCollateralCount(transaction, context, findings)
  judgeOutputs(outputs, context, findings)
  judgeNetworks(transaction, outputs, context, findings)
  judgeTreasuryValue(transaction, context, findings)
  judgeAuxiliaryData(transaction, context, findings)
  judgeWellFormedScripts(transaction, outputs, context, findings)
}

function judgeWithOutputs(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
  findings: Findings,
): void {
  const resolution = resolve(transaction, utxos)
  const use = scriptUse(transaction, resolution)
  const signed = signatories(transaction)
  judgeInputsKnown(resolution, findings)
  judgeInterval(transaction, context, findings)
  judgeForecast(transaction, context, findings)
  judgeFee(transaction, context, use.referenceScriptsSize, findings)
  judgeReferenceScriptsSize(transaction, context, use.referenceScriptsSize, findings)
  if (use.complete) judgeConservation(transaction, context, resolution, findings)
  judgeCollateral(transaction, context, resolution, findings)
  judgeKeyWitnesses(transaction, signed, resolution, findings)
  judgeScriptWitnesses(use, findings)
  judgeNativeScripts(transaction, signed, use, findings)
  judgeDatums(transaction, resolution, use, findings)
  judgeRedeemers(transaction, use, findings)
  judgeScriptIntegrity(transaction, context, use, findings)
}
