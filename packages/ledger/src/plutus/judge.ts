import type { EnginePool, PoolAnswer } from './engine-pool.js'
import type { EngineAnswer, EngineRequest } from './engines/engine.js'
import { definiteRequest } from './request.js'
import type { EngineName, EvaluationFailure, ExecutionUnits, RedeemerPointer } from './types.js'

/** What the engines together say of a transaction, budgets not yet compared with what is declared. */
export type Judgement =
  | {
      readonly kind: 'evaluated'
      readonly engine: EngineName
      readonly redeemers: readonly (RedeemerPointer & { readonly used: ExecutionUnits })[]
    }
  | {
      readonly kind: 'failed'
      readonly engine: EngineName
      readonly failure: EvaluationFailure
      readonly redeemer?: RedeemerPointer
    }

export interface Pools {
  /** Scalus, for as long as the patience with it lasts. */
  readonly first: EnginePool
  /** Aiken, which stops at the declared budget. */
  readonly bounded: EnginePool
  /** Scalus, for what is known to end. */
  readonly patient: EnginePool
}

export interface Case {
  readonly request: EngineRequest
  readonly redeemers: readonly RedeemerPointer[]
  /** Whether a Plutus V3 script may run: such a one succeeds only if it returns unit. */
  readonly needsUnit: boolean
  readonly patienceMs: number
  readonly timeLimitMs: number
}

type Failed = Extract<EngineAnswer, { kind: 'failed' }>
type Unanswered = Exclude<PoolAnswer, { kind: 'evaluated' | 'failed' }>

/**
 * Scalus judges first: it is the faster and the exacter one. It knows no budget, so where its time runs out Aiken says
 * whether the scripts end within what they declare, and only then does Scalus get the time it needs. What Scalus cannot
 * read, Aiken judges; but Aiken does not look at what a Plutus V3 script returns, so there Scalus must find success
 * too, on the same transaction in an encoding that it reads.
 */
export async function judge(pools: Pools, subject: Case): Promise<Judgement> {
  const { request, patienceMs, timeLimitMs } = subject
  const first = await pools.first.run(request, patienceMs)
  if (first.kind === 'evaluated') return { ...first, engine: 'scalus' }
  if (first.kind === 'failed') return named(pools, subject, first)

  const bounded = await pools.bounded.run(request, timeLimitMs)
  if (bounded.kind === 'failed') return failed('aiken', request, bounded)
  if (first.kind !== 'refused') {
    const patient = await pools.patient.run(request, timeLimitMs)
    if (patient.kind === 'evaluated') return { ...patient, engine: 'scalus' }
    if (patient.kind === 'failed') return named(pools, subject, patient)
    return unjudged(patient)
  }
  if (bounded.kind !== 'evaluated') return unjudged(bounded, first)
  if (!subject.needsUnit) return { ...bounded, engine: 'aiken' }

  const confirmed = await pools.first.run(definiteRequest(request), timeLimitMs)
  if (confirmed.kind === 'evaluated') return { ...bounded, engine: 'aiken' }
  if (confirmed.kind === 'failed') return failed('scalus', request, confirmed, only(subject))
  return unjudged(confirmed)
}

/** Scalus does not say whose script failed; where there are several, Aiken does. */
async function named(pools: Pools, subject: Case, answer: Failed): Promise<Judgement> {
  const redeemer = only(subject)
  if (redeemer !== undefined) return failed('scalus', subject.request, answer, redeemer)
  const second = await pools.bounded.run(subject.request, subject.timeLimitMs)
  return failed('scalus', subject.request, answer, second.kind === 'failed' ? second.redeemer : undefined)
}

function only({ redeemers }: Case): RedeemerPointer | undefined {
  return redeemers.length === 1 ? redeemers[0] : undefined
}

function failed(
  engine: EngineName,
  { budget }: EngineRequest,
  answer: Failed,
  redeemer = answer.redeemer,
): Judgement {
  const { message, logs } = answer
  return {
    kind: 'failed',
    engine,
    failure: answer.overBudget
      ? { kind: 'BudgetExceeded', message, declared: budget, logs }
      : { kind: 'ScriptFailure', message, logs },
    ...(redeemer === undefined ? {} : { redeemer }),
  }
}

function unjudged(answer: Unanswered, before?: Unanswered): Judgement {
  const message = before === undefined ? answer.message : `${before.message}; then: ${answer.message}`
  return {
    kind: 'failed',
    engine: before === undefined ? 'scalus' : 'aiken',
    failure: { kind: 'EngineFailure', reason: answer.kind, message },
  }
}
