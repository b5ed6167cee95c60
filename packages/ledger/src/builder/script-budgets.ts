import { type Failures, outputReferenceKey, type ProtocolParameters, ScriptsNotRunError } from '../index.js'
import type { EvaluationFailure } from '../plutus/index.js'
import { type Attempt, assemble, type Budget, redeemersOf } from './assemble.js'
import { WalletError } from './errors.js'
import { invalidDraft, type Plan } from './plan.js'
import type { BuildContext } from './types.js'

export type Budgets = ReadonlyMap<string, Budget>

/**
 * Runs the scripts with the maximum budget and measures their use. Script contexts do not contain budgets, so
 * the figures hold for the same transaction with its final budgets.
 * @returns 5 % more than was used, because fee, change and inputs may still change; at most the maximum
 * @throws {WalletError} (rejects) `WALLET_TRANSACTION_REFUSED` where a script fails
 */
export async function measureScripts(plan: Plan, attempt: Attempt, context: BuildContext): Promise<Budgets> {
  const { evaluator, parameters, slots } = context
  if (evaluator === undefined) throw invalidDraft('the transaction runs scripts and no evaluator was given')
  const largest = parameters.maxTransactionExecutionUnits
  const redeemers = redeemersOf(plan, attempt)
  const unlimited = new Map(redeemers.map(({ key }) => [key, largest]))
  const { transaction } = assemble(plan, { ...attempt, budgets: unlimited }, context)
  const named = [...attempt.spent, ...(plan.draft.referenceInputs ?? [])]
  const utxos = new Map(named.map(({ reference, output }) => [outputReferenceKey(reference), output]))
  const result = await evaluator.evaluate(transaction, utxos, parameters, slots)
  if (result.failure) throw refusal(result.failure)

  const budgets = new Map<string, Budget>()
  for (const { purpose, index, outcome } of result.redeemers) {
    const tag = purpose === 'spend' ? 0 : 1
    const redeemer = redeemers.find((candidate) => candidate.tag === tag && candidate.index === index)
    if (redeemer && outcome.kind === 'Succeeded') budgets.set(redeemer.key, widen(outcome.used, parameters))
  }
  return budgets
}

/** Whether a failures is that a script needs more than its declared budget. */
export function exceedsBudget(failures: Failures): boolean {
  const exceeded: EvaluationFailure['kind'] = 'BudgetExceeded'
  return failures.some(
    ({ details: { failures } }) =>
      Array.isArray(failures) && failures.some((failure) => failure?.kind === exceeded),
  )
}

function widen(
  { memory, steps }: Budget,
  { maxTransactionExecutionUnits: largest }: ProtocolParameters,
): Budget {
  const wider = (used: bigint, bound: bigint): bigint => {
    const more = used + used / 20n + 1n
    return more < bound ? more : bound
  }
  return { memory: wider(memory, largest.memory), steps: wider(steps, largest.steps) }
}

function refusal(failure: EvaluationFailure): Error {
  if (
    failure.kind === 'EngineFailure' ||
    failure.kind === 'InvalidCostModel' ||
    failure.kind === 'MissingInput'
  ) {
    return new ScriptsNotRunError(failure)
  }
  const logs = 'logs' in failure ? failure.logs : []
  return new WalletError(
    'WALLET_TRANSACTION_REFUSED',
    `A script rejects the transaction: ${failure.message}`,
    {
      failures: [{ predicate: failure.kind, message: failure.message, details: { logs } }],
    },
  )
}
