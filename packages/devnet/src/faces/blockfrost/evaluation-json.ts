import type { RedeemerPurpose } from '@ratatosk/ledger'
import type { EvaluationFailure, EvaluationResult } from '@ratatosk/ledger/plutus'
import type { Evaluation } from '../../types.js'

/** What Ogmios 5 called the purposes of redeemers. */
const purposes: Readonly<Record<RedeemerPurpose, string>> = {
  spend: 'spend',
  mint: 'mint',
  cert: 'certificate',
  reward: 'withdrawal',
  vote: 'vote',
  propose: 'propose',
}

/** An evaluation in the envelope of Ogmios 5, which Blockfrost kept. */
export function evaluationJson(evaluation: Exclude<Evaluation, { kind: 'malformed' }>) {
  return {
    type: 'jsonwsp/response',
    version: '1.0',
    servicename: 'ogmios',
    methodname: 'EvaluateTx',
    result: resultJson(evaluation),
    reflection: {},
  }
}

function resultJson(evaluation: Exclude<Evaluation, { kind: 'malformed' }>): unknown {
  switch (evaluation.kind) {
    case 'unknown-inputs':
      return { EvaluationFailure: { UnknownInputs: evaluation.references.map(inputJson) } }
    case 'overlapping-outputs':
      return { EvaluationFailure: { AdditionalUtxoOverlap: evaluation.references.map(inputJson) } }
    case 'evaluated':
      return evaluatedJson(evaluation.result)
  }
}

function evaluatedJson({ ok, redeemers, failure }: EvaluationResult): unknown {
  if (ok) {
    const units: Record<string, { memory: number; steps: number }> = {}
    for (const { purpose, index, outcome } of redeemers) {
      if (outcome.kind !== 'Succeeded') continue
      const { memory, steps } = outcome.used
      units[`${purposes[purpose]}:${index}`] = { memory: Number(memory), steps: Number(steps) }
    }
    return { EvaluationResult: units }
  }
  const failures: Record<string, readonly unknown[]> = {}
  for (const { purpose, index, outcome } of redeemers) {
    if (outcome.kind === 'Succeeded' || outcome.kind === 'NotReached') continue
    failures[`${purposes[purpose]}:${index}`] = [failureJson(outcome)]
  }
  const [first] = redeemers
  if (Object.keys(failures).length === 0 && failure !== undefined && first !== undefined) {
    if (failure.kind === 'EngineFailure' || failure.kind === 'InvalidCostModel') {
      return { EvaluationFailure: { CannotCreateEvaluationContext: { reason: failure.message } } }
    }
    failures[`${purposes[first.purpose]}:${first.index}`] = [failureJson(failure)]
  }
  return { EvaluationFailure: { ScriptFailures: failures } }
}

function failureJson(failure: EvaluationFailure): unknown {
  const traces = 'logs' in failure ? failure.logs : []
  return { validatorFailed: { error: failure.message, traces } }
}

function inputJson(reference: string): { txId: string; index: number } {
  const [txId = '', index] = reference.split('#')
  return { txId, index: Number(index) }
}
