import { isDecodeError } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  effects,
  type Failures,
  minimumFee,
  minimumLovelace,
  outputReferenceKey,
  type ProtocolParameters,
  ScriptsNotRunError,
  type TransactionOutput,
  type Utxo,
  validate,
  validateProfile,
  validateProfileOfInputs,
} from '../index.js'
import type { EvaluationFailure } from '../plutus/index.js'
import type { ExecutionUnits } from '../rules/script-evaluator.js'
import { type Attempt, assemble, chooseCollateral, redeemersOf, sign } from './assemble.js'
import { addQuantity, lovelaceUnit, type Quantities, selectCoins, toValue } from './coin-selection.js'
import { toOutput } from './encode.js'
import { WalletError } from './errors.js'
import { invalidDraft, type Plan, planTransaction } from './plan.js'
import type { BuildContext, BuiltTransaction, TransactionDraft } from './types.js'

/** Each round only adds inputs, bytes and budget, so few are needed. */
const maxRounds = 20

/**
 * Builds a signed transaction from a draft: selects coins, computes fee, change, collateral and script
 * budgets (measured by the evaluator, plus a margin), signs, and checks the result against the rules of the
 * context's layer. A node of that layer that sees the same outputs and slot accepts it.
 *
 * @throws {WalletError} (rejects) with any of its codes
 * @throws ScriptsNotRunError (rejects) where scripts could not be run
 * @example
 * const built = await buildTransaction({ outputs: [{ address, lovelace: 5_000_000n }] }, context)
 */
export async function buildTransaction(
  draft: TransactionDraft,
  context: BuildContext,
): Promise<BuiltTransaction> {
  const { built, failures } = await attemptTransaction(draft, context)
  if (failures.length === 0) return built
  throw refusal(failures)
}

/** A signed transaction, and the ledger rules that it breaks. */
export interface Validated {
  readonly built: BuiltTransaction
  readonly failures: Failures
}

/** Builds what {@link buildTransaction} does, and returns it even if it breaks ledger rules. */
export async function attemptTransaction(draft: TransactionDraft, context: BuildContext): Promise<Validated> {
  try {
    return await attempted(draft, context)
  } catch (error) {
    throw isDecodeError(error) ? invalidDraft(`it is no transaction: ${error.message}`) : error
  }
}

async function attempted(draft: TransactionDraft, context: BuildContext): Promise<Validated> {
  const plan = planTransaction(draft, context.parameters)
  const funding = createFunding(plan, context)
  let attempt = settleFee(plan, context, funding, new Map())
  if (!plan.runsScripts) return validated(plan, attempt, context)
  for (let round = 0; round < maxRounds; round++) {
    const budgets = await measureScripts(plan, attempt, context)
    attempt = settleFee(plan, context, funding, budgets)
    const outcome = await validated(plan, attempt, context)
    if (!exceedsBudget(outcome.failures)) return outcome
  }
  throw new WalletError('WALLET_INVALID_DRAFT', 'The scripts need a larger budget at each attempt')
}

/** Raises the fee from zero until it covers the transaction that pays it. */
function settleFee(plan: Plan, context: BuildContext, funding: Funding, budgets: Budgets): Attempt {
  let fee = 0n
  for (let round = 0; round < maxRounds; round++) {
    const { spent, change } = funding.cover(fee)
    const collateral = plan.runsScripts
      ? chooseCollateral(funding.chosen(), context.funds, fee, context.changeAddress, context.parameters)
      : undefined
    const attempt: Attempt = {
      spent,
      fee,
      budgets,
      ...(change && { change }),
      ...(collateral && { collateral }),
    }
    const { transaction } = assemble(plan, attempt, context)
    const required = minimumFee(transaction, context.parameters, referenceScriptsSize(plan, spent))
    if (fee >= required) return attempt
    fee = required
  }
  throw new WalletError('WALLET_INVALID_DRAFT', 'No fee covers the transaction that pays it')
}

interface Funding {
  /** The outputs to spend and the change for a fee; never fewer outputs than for a lower fee. */
  cover(fee: bigint): { readonly spent: readonly Utxo[]; readonly change?: TransactionOutput }
  /** The outputs taken from the funds. */
  chosen(): readonly Utxo[]
}

/** Whether an output may be chosen to pay for a draft. A published reference script must not be spent. */
export const mayPay = (
  { paidByAda = false }: Pick<TransactionDraft, 'paidByAda'>,
  { output }: Pick<Utxo, 'output'>,
): boolean => output.referenceScript === undefined && !(paidByAda && output.value.assets.size > 0)

function createFunding(plan: Plan, context: BuildContext): Funding {
  const { parameters, changeAddress, random = Math.random } = context
  const fixed = (plan.draft.inputs ?? []).map(({ utxo }) => utxo)
  const named = new Set([...fixed, ...(plan.draft.referenceInputs ?? [])].map(keyOf))
  // A node that lists the funds may name an output twice.
  const distinct = [...new Map(context.funds.map((utxo) => [keyOf(utxo), utxo])).values()]
  let available = distinct.filter((utxo) => !named.has(keyOf(utxo)) && mayPay(plan.draft, utxo))
  const chosen: Utxo[] = []

  function take(needed: ReadonlyMap<string, bigint>): void {
    const taken = new Set(selectCoins(available, needed, random))
    chosen.push(...taken)
    available = available.filter((utxo) => !taken.has(utxo))
  }

  return {
    chosen: () => chosen,
    cover(fee) {
      for (;;) {
        const rest = restOf(plan, chosen, fee)
        const lacking = new Map([...rest].flatMap(([unit, amount]) => (amount < 0n ? [[unit, -amount]] : [])))
        if (lacking.size > 0) {
          take(lacking)
          continue
        }
        const spent = [...fixed, ...chosen]
        if (spent.length === 0) {
          take(new Map([[lovelaceUnit, 1n]]))
          continue
        }
        if (rest.size === 0) return { spent }
        const change = changeOf(rest, changeAddress)
        const lack = minimumLovelace(change, parameters) - change.value.lovelace
        if (lack <= 0n) return { spent, change }
        take(new Map([[lovelaceUnit, lack]]))
      }
    },
  }
}

/** The largest quantity that an output can hold. */
const mostOfUnit = 2n ** 64n - 1n

function changeOf(rest: Quantities, address: Uint8Array): TransactionOutput {
  for (const [unit, quantity] of rest) {
    if (quantity <= mostOfUnit) continue
    const reason = `The change would hold ${quantity} of ${unit}, at most ${mostOfUnit} fit into an output`
    throw new WalletError('WALLET_TRANSACTION_REFUSED', reason)
  }
  try {
    return toOutput({ address, value: toValue(rest), datum: { kind: 'none' } })
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new WalletError('WALLET_TRANSACTION_REFUSED', `The change is no output: ${error.message}`)
  }
}

/** Inputs and minting less outputs and fee, by unit; negative amounts are missing. */
function restOf({ needed }: Plan, chosen: readonly Utxo[], fee: bigint): Quantities {
  const rest: Quantities = new Map()
  for (const [unit, amount] of needed) addQuantity(rest, unit, -amount)
  addQuantity(rest, lovelaceUnit, -fee)
  for (const { output } of chosen) {
    addQuantity(rest, lovelaceUnit, output.value.lovelace)
    for (const [policy, names] of output.value.assets) {
      for (const [name, quantity] of names) addQuantity(rest, policy + name, quantity)
    }
  }
  return rest
}

/** Bytes of all reference scripts on spent and referenced outputs. */
function referenceScriptsSize({ draft }: Plan, spent: readonly Utxo[]): number {
  const touched = [...spent, ...(draft.referenceInputs ?? [])]
  return touched.reduce((size, { output }) => size + (output.referenceScript?.bytes.length ?? 0), 0)
}

/** Signs an attempt and validates the result by the rules of its layer. */
async function validated(plan: Plan, attempt: Attempt, context: BuildContext): Promise<Validated> {
  const { body } = assemble(plan, attempt, context)
  const id = blake2b256(body)
  const transaction = decodeTransaction(sign(plan, attempt, context, body, id))
  const built = {
    bytes: transaction.bytes,
    id,
    fee: attempt.fee,
    transaction,
    spent: attempt.spent,
    collateral: attempt.collateral?.inputs ?? [],
    produced: effects(transaction).produced,
  }
  const { parameters, networkId, slot, slots, evaluator, layer } = context
  const touched = [...built.spent, ...built.collateral, ...(plan.draft.referenceInputs ?? [])]
  const utxos = new Map(touched.map((utxo) => [keyOf(utxo), utxo.output]))
  const phaseTwo = evaluator && { evaluator, slots }
  const failures = await validate(transaction, utxos, { parameters, networkId, slot }, phaseTwo)
  const limits =
    layer === 2 ? [...validateProfile(transaction), ...validateProfileOfInputs(transaction, utxos)] : []
  return { built, failures: [...failures, ...limits] }
}

/** Of a transaction that breaks these rules. */
export function refusal(failures: Failures): WalletError {
  const reasons = failures.map(({ predicate, message }) => `${predicate}: ${message}`).join('; ')
  return new WalletError('WALLET_TRANSACTION_REFUSED', `The transaction breaks ledger rules: ${reasons}`, {
    failures,
  })
}

function keyOf({ reference }: Utxo): string {
  return outputReferenceKey(reference)
}

type Budgets = ReadonlyMap<string, ExecutionUnits>

/**
 * Runs the scripts with the maximum budget and measures their use. Script contexts do not contain budgets, so
 * the figures hold for the same transaction with its final budgets.
 * @returns 5 % more than was used, because fee, change and inputs may still change; at most the maximum
 * @throws {WalletError} (rejects) `WALLET_TRANSACTION_REFUSED` where a script fails
 */
async function measureScripts(plan: Plan, attempt: Attempt, context: BuildContext): Promise<Budgets> {
  const { evaluator, parameters, slots } = context
  if (evaluator === undefined) throw invalidDraft('the transaction runs scripts and no evaluator was given')
  const largest = parameters.maxTransactionExecutionUnits
  const redeemers = redeemersOf(plan, attempt)
  const unlimited = new Map(redeemers.map(({ key }) => [key, largest]))
  const { transaction } = assemble(plan, { ...attempt, budgets: unlimited }, context)
  const named = [...attempt.spent, ...(plan.draft.referenceInputs ?? [])]
  const utxos = new Map(named.map(({ reference, output }) => [outputReferenceKey(reference), output]))
  const result = await evaluator.evaluate(transaction, utxos, parameters, slots)
  if (result.failure) throw scriptRefusal(result.failure)

  const budgets = new Map<string, ExecutionUnits>()
  for (const { purpose, index, outcome } of result.redeemers) {
    const tag = purpose === 'spend' ? 0 : 1
    const redeemer = redeemers.find((candidate) => candidate.tag === tag && candidate.index === index)
    if (redeemer && outcome.kind === 'Succeeded') budgets.set(redeemer.key, widen(outcome.used, parameters))
  }
  return budgets
}

/** Whether a failures is that a script needs more than its declared budget. */
function exceedsBudget(failures: Failures): boolean {
  const exceeded: EvaluationFailure['kind'] = 'BudgetExceeded'
  return failures.some(
    ({ details: { failures } }) =>
      Array.isArray(failures) && failures.some((failure) => failure?.kind === exceeded),
  )
}

function widen(
  { memory, steps }: ExecutionUnits,
  { maxTransactionExecutionUnits: largest }: ProtocolParameters,
): ExecutionUnits {
  const wider = (used: bigint, bound: bigint): bigint => {
    const more = used + used / 20n + 1n
    return more < bound ? more : bound
  }
  return { memory: wider(memory, largest.memory), steps: wider(steps, largest.steps) }
}

function scriptRefusal(failure: EvaluationFailure): Error {
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
