import { ScriptsNotRunError } from '../errors.js'
import type { SlotConfig } from '../parameters/types.js'
import type { PlutusLanguage, Redeemer, Transaction, TransactionOutput } from '../transaction/types.js'
import { type Resolution, type ResolvedInput, type RuleContext, resolve, type UtxoView } from './context.js'
import { type Failures, Findings, type Json } from './predicates.js'
import type { EvaluationResult, Evaluator } from './script-evaluator.js'
import { languagesUsed, type ScriptUse, scriptUse } from './script-use.js'

/** The certificates that Plutus V1 and V2 can represent; Conway introduced the others. */
const certificatesOfV1 = new Set([
  'stake_registration',
  'stake_deregistration',
  'stake_delegation',
  'pool_registration',
  'pool_retirement',
  'reg_cert',
  'unreg_cert',
])

/**
 * UTXOS: CollectErrors. A Plutus script cannot run on the transaction: its language has no cost model, or its
 * script context cannot represent a part of the transaction (BadTranslation).
 */
function validateScriptContexts(
  transaction: Transaction,
  context: RuleContext,
  resolution: Resolution,
  use: ScriptUse,
  findings: Findings,
): void {
  const errors = scriptContextErrors(transaction, context, resolution, use)
  if (errors.length > 0) {
    findings.add('CollectErrors', 'The transaction cannot be shown to its scripts', { errors })
  }
}

/** The details of CollectErrors; those of inputs are found for known outputs only. */
function scriptContextErrors(
  transaction: Transaction,
  { parameters, forecastHorizon }: RuleContext,
  resolution: Resolution,
  use: ScriptUse,
): { readonly [key: string]: Json }[] {
  const errors: { readonly [key: string]: Json }[] = []
  for (const language of [...languagesUsed(use)].sort()) {
    if (parameters.costModels[language] === undefined) errors.push({ error: 'NoCostModel', language })
    const translate = (reason: string, items?: Json): void => {
      errors.push({ error: 'BadTranslation', language, reason, ...(items !== undefined && { items }) })
    }
    validateOutputs(transaction, resolution, language === 'PlutusV1', translate)
    if (language === 'PlutusV3') validateOverlap(resolution, parameters.ledgerVersion.major, translate)
    else validateConwayFeatures(transaction, use, language, translate)
    const { invalidBefore = 0n, invalidHereafter = 0n } = transaction.body.validityInterval
    const late = [invalidBefore, invalidHereafter].filter((slot) => slot > (forecastHorizon ?? slot))
    if (late.length > 0) translate('TimeTranslationPastHorizon', late.map(String))
  }
  return errors
}

type Translate = (reason: string, items?: Json) => void

/** No language can represent Byron addresses, and Plutus V1 cannot represent inline datums. */
function validateOutputs(
  { body }: Transaction,
  { inputs, referenceInputs }: Resolution,
  first: boolean,
  translate: Translate,
): void {
  const seen: { readonly at: Json; readonly output: TransactionOutput }[] = []
  const see = ({ key, output }: ResolvedInput): void => {
    if (output) seen.push({ at: key, output })
  }
  inputs.forEach(see)
  referenceInputs.forEach(see)
  body.outputs.forEach((output, at) => {
    seen.push({ at, output })
  })
  const inline = first ? seen.filter(({ output }) => output.datum.kind === 'inline') : []
  if (inline.length > 0)
    translate(
      'InlineDatumsNotSupported',
      inline.map(({ at }) => at),
    )
  const byron = seen.filter(({ output }) => output.address.kind === 'byron')
  if (byron.length > 0)
    translate(
      'ByronTxOutInContext',
      byron.map(({ at }) => at),
    )
}

/** Since ledger version 11, an output may be both spent and referenced, unless a Plutus V3 script runs. */
function validateOverlap({ inputs, referenceInputs }: Resolution, major: number, translate: Translate): void {
  if (major < 11 || referenceInputs.length === 0) return
  const spent = new Set(inputs.map(({ key }) => key))
  const common = referenceInputs.map(({ key }) => key).filter((key) => spent.has(key))
  if (common.length > 0) translate('ReferenceInputsNotDisjointFromInputs', common)
}

function validateConwayFeatures(
  { body }: Transaction,
  { needs, provided }: ScriptUse,
  language: string,
  translate: Translate,
): void {
  if (body.votingProcedures.length > 0) translate('VotingProceduresFieldNotSupported')
  if (body.proposalProcedures.length > 0) translate('ProposalProceduresFieldNotSupported')
  if (body.treasuryDonation > 0n) translate('TreasuryDonationFieldNotSupported')
  if (body.currentTreasury !== undefined) translate('CurrentTreasuryFieldNotSupported')
  const certificates = body.certificates.filter(({ kind }) => !certificatesOfV1.has(kind))
  if (certificates.length > 0)
    translate(
      'CertificateNotSupported',
      certificates.map(({ kind }) => kind),
    )
  const purposes = needs.filter(
    ({ purpose, scriptHash }) =>
      (purpose === 'vote' || purpose === 'propose') && provided.get(scriptHash)?.language === language,
  )
  if (purposes.length > 0) {
    translate(
      'PlutusPurposeNotSupported',
      purposes.map(({ purpose, index }) => ({ purpose, index })),
    )
  }
}

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
