import type { Redeemer } from '../transaction/types.js'
import type { Judgement } from './judge.js'
import type {
  EvaluationFailure,
  EvaluationResult,
  RedeemerOutcome,
  RedeemerPointer,
  RedeemerResult,
} from './types.js'

/** A judgement as a result: each redeemer with what its script used, compared with what it declares. */
export function judgedResult(redeemers: readonly Redeemer[], judgement: Judgement): EvaluationResult {
  if (judgement.kind === 'failed') {
    return failedResult(redeemers, judgement.failure, judgement)
  }
  const used = new Map(judgement.redeemers.map((redeemer) => [pointerKey(redeemer), redeemer.used]))
  const results = redeemers.map((redeemer): RedeemerResult => {
    const units = used.get(pointerKey(redeemer))
    return result(redeemer, units === undefined ? unnamed(redeemer) : compare(redeemer, units))
  })
  const failure = results.map(({ outcome }) => outcome).find(isFailure)
  const judged = { engine: judgement.engine, redeemers: results }
  return failure === undefined ? { ...judged, ok: true } : { ...judged, ok: false, failure }
}

/** A result in which nothing but the failure is known. */
export function failedResult(
  redeemers: readonly Redeemer[],
  failure: EvaluationFailure,
  {
    engine,
    redeemer: failed,
  }: Partial<Pick<EvaluationResult, 'engine'>> & { redeemer?: RedeemerPointer } = {},
): EvaluationResult {
  const key = failed === undefined ? undefined : pointerKey(failed)
  const judged = redeemers.find((redeemer) => pointerKey(redeemer) === key)
  const own =
    failure.kind === 'BudgetExceeded' && judged !== undefined
      ? { ...failure, declared: judged.executionUnits }
      : failure
  return {
    ok: false,
    ...(engine === undefined ? {} : { engine }),
    redeemers: redeemers.map((redeemer) =>
      result(redeemer, redeemer === judged ? own : { kind: 'NotReached' }),
    ),
    failure: own,
  }
}

function result({ purpose, index, executionUnits }: Redeemer, outcome: RedeemerOutcome): RedeemerResult {
  return { purpose, index, declared: executionUnits, outcome }
}

function compare(
  { executionUnits: declared }: Redeemer,
  used: { memory: bigint; steps: bigint },
): RedeemerOutcome {
  if (used.memory <= declared.memory && used.steps <= declared.steps) return { kind: 'Succeeded', used }
  const message = `The script used ${used.memory} memory units and ${used.steps} steps, more than the redeemer declares`
  return { kind: 'BudgetExceeded', message, declared, used, logs: [] }
}

function unnamed({ purpose, index }: Redeemer): EvaluationFailure {
  return {
    kind: 'EngineFailure',
    reason: 'refused',
    message: `The engine ran no script for ${purpose} ${index}`,
  }
}

function isFailure(outcome: RedeemerOutcome): outcome is EvaluationFailure {
  return outcome.kind !== 'Succeeded' && outcome.kind !== 'NotReached'
}

function pointerKey({ purpose, index }: RedeemerPointer): string {
  return `${purpose} ${index}`
}
