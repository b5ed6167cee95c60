import { isLayer1Error, type Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type TransactionDraft } from '@ratatosk/transaction'
import type { SequencerContext } from '../context.js'
import { build, confirm, type OperationTransaction } from './submit-and-confirm.js'

/** A transaction of a chain. */
export interface ChainLink {
  /**
   * What it spends and nobody else should: once one of these is spent, its purpose is fulfilled or has
   * failed.
   */
  readonly spends: readonly Utxo[]
  readonly draft: TransactionDraft
  /** What is sent if no transaction satisfies the draft. */
  readonly otherwise?: TransactionDraft
  /** Outputs of the wallet that do not pay for it. */
  readonly spared?: readonly Utxo[]
}

/**
 * Builds and sends transactions that may spend the outputs and the change of those before them, then waits
 * until layer 1 includes them.
 *
 * @param next the next transaction after those that are built; undefined at the end
 * @returns the transactions that were included, in order: all, or those before the first whose inputs
 *   somebody else has spent
 * @throws {Layer1Error} as `submitAndConfirm`
 */
export async function sendChain(
  context: SequencerContext,
  wallet: Wallet,
  next: (built: readonly BuiltTransaction[]) => Promise<ChainLink | undefined> | ChainLink | undefined,
): Promise<readonly BuiltTransaction[]> {
  const { layer1, signal } = context
  const sent: { readonly spends: readonly Utxo[]; readonly transaction: OperationTransaction }[] = []
  for (;;) {
    const link = await next(sent.map(({ transaction }) => transaction.built))
    if (link === undefined) break
    const transaction = await buildLink(context, wallet, link)
    sent.push({ spends: link.spends, transaction })
    try {
      await wallet.submit(transaction.built, { signal })
    } catch (error) {
      // `confirm` sends it again, and decides whether the failure is final.
      if (!isLayer1Error(error)) throw error
      break
    }
  }
  const included: BuiltTransaction[] = []
  const pending = new Set(sent)
  try {
    for (const entry of sent) {
      const { built } = entry.transaction
      const references = entry.spends.map(({ reference }) => reference)
      const isDone = async () =>
        (await layer1.utxosByReferences(references, { signal })).length < references.length
      const id = await confirm(context, entry.transaction, isDone)
      // An input is spent: by this transaction, if it was included between both reads.
      const isOurs = id !== undefined || (await layer1.status(built.id, { signal })).kind === 'confirmed'
      if (!isOurs) return included
      pending.delete(entry)
      included.push(built)
    }
    return included
  } finally {
    for (const { transaction } of pending) wallet.release(transaction.built.id)
  }
}

async function buildLink(
  context: SequencerContext,
  wallet: Wallet,
  { draft, otherwise, spared }: ChainLink,
): Promise<OperationTransaction> {
  try {
    return await build(context, wallet, draft, spared)
  } catch (error) {
    if (otherwise === undefined || !isWalletError(error)) throw error
    context.log.warn({ reason: error.message }, 'A transaction is built without what is not essential to it')
    return build(context, wallet, otherwise, spared)
  }
}
