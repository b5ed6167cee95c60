import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings, Json } from '../failures.js'
import type { Resolution, ResolvedInput } from '../resolution.js'
import { languagesUsed, type ScriptUse } from '../script-use.js'

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
export function validateScriptContexts(
  transaction: Transaction,
  { parameters }: RuleContext,
  resolution: Resolution,
  use: ScriptUse,
  findings: Findings,
): void {
  const errors: Json[] = []
  for (const language of [...languagesUsed(use)].sort()) {
    if (parameters.costModels[language] === undefined) errors.push({ error: 'NoCostModel', language })
    const translate = (reason: string, items?: Json): void => {
      errors.push({ error: 'BadTranslation', language, reason, ...(items !== undefined && { items }) })
    }
    validateOutputs(transaction, resolution, language === 'PlutusV1', translate)
    if (language === 'PlutusV3') validateOverlap(resolution, parameters.ledgerVersion.major, translate)
    else validateConwayFeatures(transaction, use, language, translate)
  }
  if (errors.length > 0) {
    findings.add('CollectErrors', 'The transaction cannot be shown to its scripts', { errors })
  }
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
