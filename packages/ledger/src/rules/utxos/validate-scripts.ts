import { ScriptsNotRunError } from '../../errors.js'
import type { SlotConfig } from '../../parameters/types.js'
import type { EvaluationResult, Evaluator } from '../../plutus/types.js'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import type { RuleContext, UtxoView } from '../context.js'
import { type Failures, Findings, type Json } from '../failures.js'
import { resolve } from '../resolution.js'
import { languagesUsed, scriptUse } from '../script-use.js'
import { validateScriptContexts } from './collect.js'

/**
 * The needs of phase 2 beyond {@link RuleContext}: an evaluator of scripts, and the mapping of slots to
 * time.
 */
export interface PhaseTwo {
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  readonly slots: SlotConfig
}

/**
 * Validates phase 2 of a transaction that passes phase 1: CollectErrors and ValidationTagMismatch. If the
 * transaction is marked invalid, at least one script must fail; otherwise every script must succeed.
 *
 * @param utxos the outputs of the inputs and reference inputs, by `outputReferenceKey`
 * @returns every broken rule; empty if there is none
 * @throws ScriptsNotRunError (rejects) if scripts have to run and cannot
 */
export async function validateScripts(
  transaction: Transaction,
  utxos: UtxoView,
  context: RuleContext,
  phaseTwo?: PhaseTwo,
): Promise<Failures> {
  const findings = new Findings()
  const resolution = resolve(transaction, utxos)
  const use = scriptUse(transaction, resolution)
  if (languagesUsed(use).size === 0) {
    validateTag(transaction, true, [], findings)
    return findings.failures
  }
  validateScriptContexts(transaction, context, resolution, use, findings)
  if (findings.failures.length > 0) return findings.failures
  if (phaseTwo === undefined) throw new ScriptsNotRunError()

  const outputs = new Map<string, TransactionOutput>()
  for (const { key, output } of resolution.inputs) if (output) outputs.set(key, output)
  for (const { key, output } of resolution.referenceInputs) if (output) outputs.set(key, output)
  const { evaluator, slots } = phaseTwo
  const result = await evaluator.evaluate(transaction, outputs, context.parameters, slots)
  validateTag(transaction, result.ok, failuresOf(result), findings)
  return findings.failures
}

function validateTag(
  { isValid }: Transaction,
  passed: boolean,
  failures: readonly Json[],
  findings: Findings,
): void {
  if (isValid === passed) return
  findings.add(
    'ValidationTagMismatch',
    passed ? 'The transaction is marked invalid, but its scripts succeed' : 'A script fails',
    { isValid, description: passed ? 'PassedUnexpectedly' : 'FailedUnexpectedly', failures },
  )
}

/** Describes the failure for the author of the script. Throws if the scripts were not validated. */
function failuresOf({ ok, failure, redeemers }: EvaluationResult): readonly Json[] {
  if (ok) return []
  const failures: Json[] = []
  const name = (found: NonNullable<EvaluationResult['failure']>, pointer: { [key: string]: Json }): void => {
    switch (found.kind) {
      case 'ScriptFailure':
        failures.push({ ...pointer, kind: found.kind, message: found.message, logs: found.logs })
        return
      case 'BudgetExceeded':
        failures.push({
          ...pointer,
          kind: found.kind,
          message: found.message,
          logs: found.logs,
          declared: unitsToJson(found.declared),
          used: found.used ? unitsToJson(found.used) : null,
        })
        return
      case 'MalformedScript':
        failures.push({ ...pointer, kind: found.kind, message: found.message, scriptHash: found.scriptHash })
        return
      default:
        throw new ScriptsNotRunError(found)
    }
  }
  for (const { purpose, index, outcome } of redeemers) {
    if (outcome.kind !== 'Succeeded' && outcome.kind !== 'NotReached') name(outcome, { purpose, index })
  }
  if (failures.length === 0 && failure) name(failure, {})
  return failures
}

function unitsToJson({ memory, steps }: { memory: bigint; steps: bigint }): Json {
  return { memory: String(memory), steps: String(steps) }
}
