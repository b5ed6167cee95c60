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
      /** True where a script that was trusted had to be stopped. */
      readonly failedTrust?: boolean
    }

export interface Pools {
  /** Scalus, for as long as the patience with it lasts. */
  readonly first: EnginePool
  /** Aiken, which stops at the declared budget. */
  readonly bounded: EnginePool
  /** Scalus, for what does not go over its budget: what takes longer there holds up nobody else. */
  readonly patient: EnginePool
}

export interface Case {
  readonly request: EngineRequest
  readonly redeemers: readonly RedeemerPointer[]
  /** Whether a Plutus V3 script may run: such a one succeeds only if it returns unit. */
  readonly needsUnit: boolean
  /** Whether its scripts have earned to run first where no budget stops them. */
  readonly trusted: boolean
  readonly patienceMs: number
  readonly timeLimitMs: number
}

type Failed = Extract<EngineAnswer, { kind: 'failed' }>
type Unanswered = Exclude<PoolAnswer, { kind: 'evaluated' | 'failed' }>

/**
 * Scalus judges: it is the faster and the exacter one. But it knows no budget, so Aiken says whether the scripts go over what
 * they declare: beforehand, or where they are trusted, once the patience with them is over. Only if they do not, Scalus
 * gets the time it needs.
 */
export async function judge(pools: Pools, subject: Case): Promise<Judgement> {
  const { request, trusted, patienceMs, timeLimitMs } = subject
  const before = trusted ? undefined : await pools.bounded.run(request, timeLimitMs)
  if (before !== undefined && isOverBudget(before)) return failed('aiken', request, before)

  const first = await pools.first.run(request, patienceMs)
  if (first.kind === 'evaluated') return { ...first, engine: 'scalus' }
  if (first.kind === 'failed') return named(pools, subject, first, before)

  const bounded = before ?? (await pools.bounded.run(request, timeLimitMs))
  if (isOverBudget(bounded)) return { ...failed('aiken', request, bounded), failedTrust: true }
  if (first.kind === 'refused') return judgeUnread(pools, subject, first, bounded)

  const patient = await pools.patient.run(request, timeLimitMs)
  if (patient.kind === 'evaluated') return { ...patient, engine: 'scalus' }
  if (patient.kind === 'failed') return named(pools, subject, patient, bounded)
  return unjudged('scalus', patient)
}

/**
 * What Scalus cannot read, Aiken judges; but Aiken does not look at what a Plutus V3 script returns, so there Scalus must
 * find success too, on the same transaction in an encoding that it reads.
 */
async function judgeUnread(
  pools: Pools,
  subject: Case,
  first: Unanswered,
  bounded: PoolAnswer,
): Promise<Judgement> {
  const { request, timeLimitMs } = subject
  if (bounded.kind === 'failed') return failed('aiken', request, bounded)
  if (bounded.kind !== 'evaluated') return unjudged('aiken', bounded, first)
  if (!subject.needsUnit) return { ...bounded, engine: 'aiken' }
  const confirmed = await pools.patient.run(definiteRequest(request), timeLimitMs)
  if (confirmed.kind === 'evaluated') return { ...bounded, engine: 'aiken' }
  if (confirmed.kind === 'failed') return failed('scalus', request, confirmed, only(subject))
  return unjudged('scalus', confirmed)
}

/** Scalus does not say whose script failed; where there are several, Aiken does. */
async function named(
  pools: Pools,
  subject: Case,
  answer: Failed,
  bounded: PoolAnswer | undefined,
): Promise<Judgement> {
  const redeemer = only(subject)
  if (redeemer !== undefined) return failed('scalus', subject.request, answer, redeemer)
  const second = bounded ?? (await pools.bounded.run(subject.request, subject.timeLimitMs))
  return failed('scalus', subject.request, answer, second.kind === 'failed' ? second.redeemer : undefined)
}

function isOverBudget(answer: PoolAnswer): answer is Failed {
  return answer.kind === 'failed' && answer.overBudget
}

function only({ redeemers }: Case): RedeemerPointer | undefined {
  return redeemers.length === 1 ? redeemers[0] : undefined
}

function failed(
  engine: EngineName,
  { budget }: EngineRequest,
  answer: Failed,
  redeemer = answer.redeemer,
): Extract<Judgement, { kind: 'failed' }> {
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

function unjudged(engine: EngineName, answer: Unanswered, before?: Unanswered): Judgement {
  const message = before === undefined ? answer.message : `${before.message}; then: ${answer.message}`
  return { kind: 'failed', engine, failure: { kind: 'EngineFailure', reason: answer.kind, message } }
}
