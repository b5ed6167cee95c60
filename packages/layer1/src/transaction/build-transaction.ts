import {
  blake2b256,
  decodeTransaction,
  effects,
  judge,
  minimumFee,
  minimumLovelace,
  outputReferenceKey,
  type Transaction,
  type TransactionOutput,
  toHex,
} from '@ratatosk/ledger'
import { WalletError } from '../errors.js'
import type { Utxo } from '../types.js'
import { selectCoins } from '../wallet/coin-selection.js'
import { assemble, type Draught, sign } from './assemble.js'
import { chooseCollateral } from './collateral.js'
import { toOutput } from './encode-output.js'
import { type Plan, planTransaction } from './plan.js'
import { addQuantity, LOVELACE, type Quantities, toValue } from './quantities.js'
import { type Budgets, measureScripts, withinBudgets } from './script-budgets.js'
import type { BuildContext, BuiltTransaction, TransactionDraft } from './types.js'

/** Each round can only add inputs, bytes and budget, so few are needed. */
const MAX_ROUNDS = 20

/**
 * Makes a transaction of a draft: chooses funds, settles fee, change, collateral and script budgets (by the evaluator, with a
 * margin), signs, and judges the result by the ledger's own rules, so that what is sent is refused by nobody who sees the same
 * outputs.
 *
 * @throws {WalletError} (rejects) with any of its codes
 * @throws ScriptsNotJudgedError (rejects) where scripts could not be run
 * @example
 * const built = await buildTransaction({ outputs: [{ address, lovelace: 5_000_000n }] }, context)
 */
export async function buildTransaction(
  draft: TransactionDraft,
  context: BuildContext,
): Promise<BuiltTransaction> {
  const plan = planTransaction(draft, context.parameters)
  const funding = createFunding(plan, context)
  let budgets: Budgets = new Map()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const draught = settleFee(plan, context, funding, budgets)
    if (plan.runsScripts) {
      const used = await measureScripts(plan, draught, context)
      if (!withinBudgets(used, budgets)) {
        budgets = used.withMargin
        continue
      }
    }
    return finish(plan, draught, context)
  }
  throw new WalletError('WALLET_INVALID_DRAFT', 'The scripts ask for more at each attempt: no budget holds')
}

/** Finds the least fee, beginning from none: it grows until the transaction that pays it needs no more. */
function settleFee(plan: Plan, context: BuildContext, funding: Funding, budgets: Budgets): Draught {
  let fee = 0n
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { spent, change } = funding.cover(fee)
    const collateral = plan.runsScripts
      ? chooseCollateral(funding.chosen(), context.funds, fee, context.changeAddress, context.parameters)
      : undefined
    const draught: Draught = {
      spent,
      fee,
      budgets,
      ...(change && { change }),
      ...(collateral && { collateral }),
    }
    const { transaction } = assemble(plan, draught, context)
    const required = minimumFee(transaction, context.parameters, referenceScriptsSize(plan, spent))
    if (fee >= required) return draught
    fee = required
  }
  throw new WalletError('WALLET_INVALID_DRAFT', 'No fee was found that pays for its own bytes')
}

interface Funding {
  /** Outputs to spend, and the change, for a fee; never fewer outputs than for the fee before. */
  cover(fee: bigint): { readonly spent: readonly Utxo[]; readonly change?: TransactionOutput }
  /** What was taken from the funds. */
  chosen(): readonly Utxo[]
}

function createFunding(plan: Plan, context: BuildContext): Funding {
  const { parameters, changeAddress, random = Math.random } = context
  const fixed = (plan.draft.inputs ?? []).map(({ utxo }) => utxo)
  const named = new Set([...fixed, ...(plan.draft.referenceInputs ?? [])].map(keyOf))
  // Whoever published a script for reference does not want it spent by chance.
  let available = context.funds.filter((utxo) => !named.has(keyOf(utxo)) && !utxo.output.referenceScript)
  const chosen: Utxo[] = []

  function take(needed: ReadonlyMap<string, bigint>): void {
    const taken = selectCoins(available, needed, random)
    chosen.push(...taken)
    available = available.filter((utxo) => !taken.includes(utxo))
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
          take(new Map([[LOVELACE, 1n]]))
          continue
        }
        if (rest.size === 0) return { spent }
        const change = toOutput({ address: changeAddress, value: toValue(rest), datum: { kind: 'none' } })
        const lack = minimumLovelace(change, parameters) - change.value.lovelace
        if (lack <= 0n) return { spent, change }
        take(new Map([[LOVELACE, lack]]))
      }
    },
  }
}

/** What is left of all that comes in after outputs and fee; negative where it does not suffice. */
function restOf({ needed }: Plan, chosen: readonly Utxo[], fee: bigint): Quantities {
  const rest: Quantities = new Map()
  for (const [unit, amount] of needed) addQuantity(rest, unit, -amount)
  addQuantity(rest, LOVELACE, -fee)
  for (const { output } of chosen) {
    addQuantity(rest, LOVELACE, output.value.lovelace)
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

async function finish(plan: Plan, draught: Draught, context: BuildContext): Promise<BuiltTransaction> {
  const { body } = assemble(plan, draught, context)
  const id = blake2b256(body)
  const transaction = decodeTransaction(sign(plan, draught, context, body, id))
  await assertSound(plan, draught, context, transaction)
  return {
    bytes: transaction.bytes,
    id: toHex(id),
    fee: draught.fee,
    transaction,
    spent: draught.spent,
    collateral: draught.collateral?.inputs ?? [],
    produced: effects(transaction).produced,
  }
}

async function assertSound(
  { draft }: Plan,
  { spent, collateral }: Draught,
  { parameters, networkId, slot, slots, evaluator }: BuildContext,
  transaction: Transaction,
): Promise<void> {
  const touched = [...spent, ...(collateral?.inputs ?? []), ...(draft.referenceInputs ?? [])]
  const utxos = new Map(touched.map((utxo) => [keyOf(utxo), utxo.output]))
  const phaseTwo = evaluator && { evaluator, slots }
  const verdict = await judge(transaction, utxos, { parameters, networkId, slot }, phaseTwo)
  if (verdict.length === 0) return
  const reasons = verdict.map(({ predicate, message }) => `${predicate}: ${message}`).join('; ')
  throw new WalletError('WALLET_TRANSACTION_REFUSED', `The transaction breaks the rules: ${reasons}`, {
    verdict,
  })
}

function keyOf({ reference }: Utxo): string {
  return outputReferenceKey(reference)
}
