import { randomUUID } from 'node:crypto'
import type { RedeemerFault, RedeemerPurpose } from '@ratatosk/ledger'
import type { EvaluationFailure, EvaluationResult, RedeemerPointer } from '@ratatosk/ledger/plutus'
import { contextReason, unknownInput } from '../ogmios/json/evaluation-json.js'
import { plutusLanguages } from '../ogmios/json/output-json.js'
import type { ScriptEvaluation } from '../view/chain-view.js'

// Evaluations in the format of Ogmios 5, which Blockfrost kept.

type Evaluation = Exclude<ScriptEvaluation, { kind: 'malformed' | 'busy' }>

/** A request that could not be evaluated. */
export function faultOfClient(reason: string) {
  return {
    type: 'jsonwsp/fault',
    version: '1.0',
    servicename: 'ogmios',
    fault: { code: 'client', string: `Invalid request: ${reason}` },
    reflection: { id: randomUUID() },
  }
}

export function evaluationJson(evaluation: Evaluation) {
  return response(resultJson(evaluation))
}

/** A transaction of an era before scripts. */
export function incompatibleEra(era: string) {
  return response({ EvaluationFailure: { IncompatibleEra: era } })
}

function response(result: unknown) {
  return {
    type: 'jsonwsp/response',
    version: '1.0',
    servicename: 'ogmios',
    methodname: 'EvaluateTx',
    result,
    reflection: { id: randomUUID() },
  }
}

function resultJson(evaluation: Evaluation): unknown {
  switch (evaluation.kind) {
    case 'overlapping-outputs':
      return { EvaluationFailure: { AdditionalUtxoOverlap: evaluation.references.map(inputJson) } }
    case 'faulty-redeemers':
      return scriptFailures(
        evaluation.faults.map(({ fault, ...pointer }) => [pointer, faultJson(fault, pointer)]),
      )
    case 'evaluated':
      return evaluatedJson(evaluation.result)
  }
}

function evaluatedJson({ ok, redeemers, failure }: EvaluationResult): unknown {
  if (ok) {
    const units: Record<string, { memory: number; steps: number }> = {}
    for (const { outcome, ...pointer } of redeemers) {
      if (outcome.kind !== 'Succeeded') continue
      const { memory, steps } = outcome.used
      units[pointerText(pointer)] = { memory: Number(memory), steps: Number(steps) }
    }
    return { EvaluationResult: units }
  }
  const failures = redeemers.flatMap(({ outcome, ...pointer }): [RedeemerPointer, unknown][] =>
    outcome.kind === 'Succeeded' || outcome.kind === 'NotReached' ? [] : [[pointer, [failureJson(outcome)]]],
  )
  const [first] = redeemers
  if (failures.length === 0 && failure !== undefined && first !== undefined) {
    if (failure.kind === 'EngineFailure' || failure.kind === 'InvalidCostModel') {
      return { EvaluationFailure: noContext(failure.message) }
    }
    failures.push([first, [failureJson(failure)]])
  }
  return scriptFailures(failures)
}

function scriptFailures(failures: readonly (readonly [RedeemerPointer, unknown])[]) {
  const byPointer = failures.map(([pointer, failure]) => [pointerText(pointer), failure])
  return { EvaluationFailure: { ScriptFailures: Object.fromEntries(byPointer) } }
}

/** Blockfrost does not put the error of a context that cannot be made into a list. */
function faultJson(fault: RedeemerFault, pointer: RedeemerPointer): unknown {
  switch (fault.kind) {
    case 'Extraneous':
      return [{ extraRedeemers: [pointerText(pointer)] }]
    case 'MissingScript':
      return [{ missingRequiredScripts: { missing: [pointerText(pointer)], resolved: {} } }]
    case 'NoCostModel':
      return [{ noCostModelForLanguage: plutusLanguages[fault.language] }]
    case 'UnknownInputs':
      return noContext(unknownInput(fault.references))
    case 'BadTranslation':
      return noContext(contextReason(fault.reason))
  }
}

function noContext(reason: string) {
  return { CannotCreateEvaluationContext: { reason } }
}

function failureJson(failure: EvaluationFailure): unknown {
  const traces = 'logs' in failure ? failure.logs : []
  return { validatorFailed: { error: failure.message, traces } }
}

function inputJson(reference: string): { txId: string; index: number } {
  const [txId = '', index] = reference.split('#')
  return { txId, index: Number(index) }
}

/** Redeemer purposes as Ogmios 5 named them. */
const purposes: Readonly<Record<RedeemerPurpose, string>> = {
  spend: 'spend',
  mint: 'mint',
  cert: 'certificate',
  reward: 'withdrawal',
  vote: 'vote',
  propose: 'propose',
}

function pointerText({ purpose, index }: RedeemerPointer): string {
  return `${purposes[purpose]}:${index}`
}
