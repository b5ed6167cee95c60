import { type Failures, outputReferenceKey, profileLimits, type Utxo } from '../index.js'
import { attemptTransaction, refusal, type Validated } from './build-transaction.js'
import { isWalletError, type WalletError } from './errors.js'
import type { BuildContext, BuiltTransaction, TransactionDraft } from './types.js'

/** The payments of {@link buildPayments}. */
export interface PaymentsDraft extends Pick<TransactionDraft, 'validFrom' | 'validUntil' | 'paidByAda'> {
  readonly outputs: NonNullable<TransactionDraft['outputs']>
}

export interface PayingTransaction extends BuiltTransaction {
  /** How many outputs of the draft are its first ones; 0 if it joins outputs of the wallet. */
  readonly payments: number
}

export interface BuiltPayments {
  /**
   * In the order in which they are submitted: each may spend the change of those before it. Together they
   * have the outputs of the draft in its order.
   */
  readonly transactions: readonly PayingTransaction[]
  /** The rules that a single transaction would break; empty if there is only one. */
  readonly reasons: Failures
}

/**
 * Builds payments on layer 2, in one transaction if it keeps within {@link profileLimits}, otherwise in a
 * chain of several: the outputs are distributed, and where a payment takes too many inputs, outputs of the
 * funds are joined first. Outputs of the funds with many assets are left out where payments are possible only
 * without them: a stranger can send such outputs to a wallet.
 *
 * @throws {WalletError} (rejects) with any of its codes. `WALLET_TRANSACTION_REFUSED` if an output fits into
 *   no transaction; `WALLET_INSUFFICIENT_FUNDS` also if the funds do not cover the fees of all transactions
 * @example
 * const { transactions, reasons } = await buildPayments({ outputs }, context)
 * for (const { bytes } of transactions) await client.submit(toHex(bytes))
 */
export async function buildPayments(draft: PaymentsDraft, context: BuildContext): Promise<BuiltPayments> {
  let first: WalletError | undefined
  for (let { funds } = context; ; funds = withFewerAssets(funds)) {
    try {
      return await chain(draft, { ...context, funds })
    } catch (error) {
      if (!isWalletError(error) || !isOfFunds(error)) throw error
      first ??= error
    }
    if (funds.every(({ output }) => output.value.assets.size === 0)) throw first
  }
}

/** Whether other funds may lead to a result. */
const isOfFunds = ({ code }: WalletError): boolean =>
  code === 'WALLET_INSUFFICIENT_FUNDS' || code === 'WALLET_TRANSACTION_REFUSED'

/** Without the outputs that have more than half as many assets as the one with the most. */
function withFewerAssets(funds: readonly Utxo[]): readonly Utxo[] {
  const counts = funds.map(({ output }) =>
    [...output.value.assets.values()].reduce((count, { size }) => count + size, 0),
  )
  const most = counts.reduce((one, other) => Math.max(one, other), 0)
  return funds.filter((_, index) => (counts[index] ?? 0) <= most / 2)
}

async function chain(draft: PaymentsDraft, context: BuildContext): Promise<BuiltPayments> {
  const whole = await attempt(draft, context)
  let { funds } = context
  let { outputs } = draft
  if (whole.failures.length === 0)
    return { transactions: [{ ...whole.built, payments: outputs.length }], reasons: [] }
  const transactions: PayingTransaction[] = []
  while (outputs.length > 0) {
    const paid = await largest(Math.min(outputs.length, profileLimits.outputs), (count) =>
      attempt({ ...draft, outputs: outputs.slice(0, count) }, { ...context, funds }),
    )
    const payments = paid.failures.length === 0 ? paid.count : 0
    const { built } = payments > 0 ? paid : await joined(paid, draft, context)
    transactions.push({ ...built, payments })
    funds = [...unspent(funds, built.spent), ...built.produced.slice(payments)]
    outputs = outputs.slice(payments)
  }
  return { transactions, reasons: whole.failures }
}

/** Joins as many as possible of the outputs that a payment, which is too large, would spend. */
async function joined(
  { built: { spent }, failures }: Validated,
  { validFrom, validUntil }: PaymentsDraft,
  context: BuildContext,
): Promise<Validated> {
  const interval = {
    ...(validFrom !== undefined && { validFrom }),
    ...(validUntil !== undefined && { validUntil }),
  }
  const outcome = await largest(Math.min(spent.length, profileLimits.inputs), (count) => {
    const inputs = spent.slice(0, count).map((utxo) => ({ utxo }))
    return attempt({ ...interval, inputs }, { ...context, funds: [] })
  }).catch((error: unknown) => {
    // Outputs that do not pay for their own change say nothing of the wallet.
    throw isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS' ? refusal(failures) : error
  })
  if (outcome.failures.length === 0 && outcome.count > 1) return outcome
  throw refusal(failures)
}

/** The result of the largest count up to `most` that fits; that of 1 if none fits. */
async function largest(
  most: number,
  build: (count: number) => Promise<Validated>,
): Promise<Validated & { readonly count: number }> {
  const at = async (count: number) => ({ ...(await build(count)), count })
  const all = await at(most)
  if (all.failures.length === 0 || most === 1) return all
  let best = await at(1)
  let [low, high] = [1, most]
  while (best.failures.length === 0 && high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const tried = await at(middle)
    if (tried.failures.length === 0) [low, best] = [middle, tried]
    else high = middle
  }
  return best
}

/** Builds a transaction of layer 2. Throws if it breaks other rules than those of its size. */
async function attempt(draft: TransactionDraft, context: BuildContext): Promise<Validated> {
  const attempted = await attemptTransaction(draft, { ...context, layer: 2 })
  if (attempted.failures.every(({ predicate }) => isOfSize(predicate))) return attempted
  throw refusal(attempted.failures)
}

/** Whether a smaller transaction may keep a rule. */
const isOfSize = (predicate: string): boolean =>
  predicate.startsWith('TooMany') || ['MaxTxSizeUTxO', 'OutputTooBigUTxO'].includes(predicate)

function unspent(funds: readonly Utxo[], spent: readonly Utxo[]): readonly Utxo[] {
  const gone = new Set(spent.map(({ reference }) => outputReferenceKey(reference)))
  return funds.filter(({ reference }) => !gone.has(outputReferenceKey(reference)))
}
