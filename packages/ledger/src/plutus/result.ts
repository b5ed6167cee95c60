import type { Redeemer } from '../transaction/types.js'
import type { PoolAnswer } from './engine-pool.js'
import type {
  EvaluationFailure,
  EvaluationResult,
  RedeemerOutcome,
  RedeemerPointer,
  RedeemerResult,
} from './types.js'

/** What an engine answered, for each redeemer. */
export function judgedResult(redeemers: readonly Redeemer[], answer: PoolAnswer): EvaluationResult {
  if (answer.kind === 'failed') {
    const { message, logs, overBudget, used, redeemer: pointer } = answer
    const failed = redeemers.find((redeemer) => pointer !== undefined && isSame(redeemer, pointer))
    if (overBudget && failed !== undefined) {
      const { executionUnits: declared } = failed
      const failure = { kind: 'BudgetExceeded', message, declared, logs } as const
      return failedResult(redeemers, used === undefined ? failure : { ...failure, used }, failed)
    }
    return failedResult(redeemers, { kind: 'ScriptFailure', message, logs }, failed)
  }
  if (answer.kind !== 'evaluated') {
    return failedResult(redeemers, { kind: 'EngineFailure', reason: answer.kind, message: answer.message })
  }
  const results = redeemers.map((redeemer): RedeemerResult => {
    const evaluated = answer.redeemers.find((each) => isSame(each, redeemer))
    return result(
      redeemer,
      evaluated === undefined ? unnamed(redeemer) : { kind: 'Succeeded', used: evaluated.used },
    )
  })
  const failure = results.map(({ outcome }) => outcome).find(isFailure)
  return failure === undefined ? { ok: true, redeemers: results } : { ok: false, redeemers: results, failure }
}

/** A result in which nothing but the failure is known, and whose it is where it is somebody's. */
export function failedResult(
  redeemers: readonly Redeemer[],
  failure: EvaluationFailure,
  failed?: Redeemer,
): EvaluationResult {
  return {
    ok: false,
    redeemers: redeemers.map((redeemer) =>
      result(redeemer, redeemer === failed ? failure : { kind: 'NotReached' }),
    ),
    failure,
  }
}

function result({ purpose, index, executionUnits }: Redeemer, outcome: RedeemerOutcome): RedeemerResult {
  return { purpose, index, declared: executionUnits, outcome }
}

/** Phase 1 makes sure that every redeemer has a script. */
function unnamed({ purpose, index }: RedeemerPointer): EvaluationFailure {
  return {
    kind: 'EngineFailure',
    reason: 'refused',
    message: `No script is there to run for ${purpose} ${index}`,
  }
}

function isFailure(outcome: RedeemerOutcome): outcome is EvaluationFailure {
  return outcome.kind !== 'Succeeded' && outcome.kind !== 'NotReached'
}

function isSame(a: RedeemerPointer, b: RedeemerPointer): boolean {
  return a.purpose === b.purpose && a.index === b.index
}
