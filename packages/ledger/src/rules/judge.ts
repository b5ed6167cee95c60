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
import { judgeSignatures } from './utxow/signatures.js'
import { judgeWellFormedScripts } from './utxow/well-formed-scripts.js'
import { Findings, type Verdict } from './verdict.js'

/**
 * The rules that need no unspent outputs: sizes, limits, outputs, networks, auxiliary data, scripts that can be read,
 * signatures, and the fee without reference scripts, which is the least that it can be. They need no lock and can be
 * judged anywhere.
 *
 * @example
 * const verdict = judgeStateless(decodeTransaction(bytes), { parameters, networkId: 0, slot: 0n })
 * for (const { predicate, message } of verdict) console.log(predicate, message)
 */
export function judgeStateless(transaction: Transaction, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeFee(transaction, context, 0, findings)
  judgeItself(transaction, context, findings)
  return findings.failures
}

/**
 * The rules of phase 1 that need the unspent outputs or the slot: known inputs, value, interval, key witnesses, scripts,
 * datums, redeemers, the script data hash, collateral, and the fee with reference scripts. While an input is unknown,
 * what depends on it is not judged, so that a verdict of nothing but `BadInputsUTxO` can change with time.
 *
 * @param utxos by `outputReferenceKey`
 */
export function judgeStateful(transaction: Transaction, utxos: UtxoView, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/** Phase 1 as a whole: every rule of {@link judgeStateless} and {@link judgeStateful}, each named once. */
export function judgePhaseOne(transaction: Transaction, utxos: UtxoView, context: RuleContext): Verdict {
  const findings = new Findings()
  judgeItself(transaction, context, findings)
  judgeWithOutputs(transaction, utxos, context, findings)
  return findings.failures
}

/**
 * Both phases: the unrestricted rules of layer 1, as far as they need no stake or governance state. Phase 2 is only asked
 * about a transaction that keeps phase 1.
 *
 * @throws {ScriptsNotJudgedError} (rejects) when scripts must run and could not
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
  judgeSignatures(transaction, findings)
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
