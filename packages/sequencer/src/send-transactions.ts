import { toHex } from '@ratatosk/cbor'
import { isLayer1Error, Layer1Error, type Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type TransactionDraft } from '@ratatosk/ledger/builder'
import type { SequencerContext } from './context.js'

interface OperationTransaction {
  readonly wallet: Wallet
  readonly built: BuiltTransaction
  /** First slot in which layer 1 can no longer include it. */
  readonly validUntil: bigint
}

/**
 * Sends a transaction of an operation until it is in a block; undefined when `isDone` came first. It is not
 * stored: an interrupted operation reads layer 1 again.
 * @throws {Layer1Error} `rejected`; `timeout` when layer 1 can no longer include it
 */
export async function submitAndConfirm(
  context: SequencerContext,
  wallet: Wallet,
  draft: TransactionDraft,
  isDone: () => Promise<boolean>,
): Promise<string | undefined> {
  return confirm(context, await build(context, wallet, draft), isDone)
}

/**
 * Milliseconds to include a transaction of an operation. Longer than the life of a commit: one that a busy
 * machine includes late is as good, and one that expires fails the operation.
 */
const operationValidityMs = 120_000

/** First slot in which layer 1 can no longer include a transaction of an operation. `validityMs` in ms. */
export const operationValidUntil = (
  { slots }: Pick<SequencerContext, 'slots'>,
  current: bigint,
  validityMs = operationValidityMs,
): bigint => current + BigInt(Math.ceil(validityMs / slots.slotLength))

/** Builds a transaction, valid until {@link operationValidUntil} by default. `spared` outputs do not pay. */
async function build(
  context: SequencerContext,
  wallet: Wallet,
  draft: TransactionDraft,
  spared: readonly Utxo[] = [],
): Promise<OperationTransaction> {
  const { layer1, signal } = context
  const validUntil = draft.validUntil ?? operationValidUntil(context, await layer1.currentSlot({ signal }))
  return { wallet, validUntil, built: await wallet.build({ ...draft, validUntil }, { signal, spared }) }
}

/** Sends a built transaction until layer 1 includes it; as {@link submitAndConfirm}. */
async function confirm(
  context: SequencerContext,
  { wallet, built, validUntil }: OperationTransaction,
  isDone: () => Promise<boolean>,
): Promise<string | undefined> {
  const { layer1, signal, options } = context

  async function poll(): Promise<'confirmed' | 'done' | 'expired' | 'waiting'> {
    // The tip first: a transaction not found afterwards is never included once the tip is past its validity.
    const { slot } = await layer1.tip({ signal })
    const statusNow = async () => (await layer1.status(built.id, { signal })).kind
    const kind = await statusNow()
    if (kind === 'confirmed') return 'confirmed'
    // It may have been included between both reads.
    if (await isDone()) return (await statusNow()) === 'confirmed' ? 'confirmed' : 'done'
    if (slot >= validUntil) return 'expired'
    if (kind === 'unknown') await wallet.submit(built, { signal })
    return 'waiting'
  }

  for (;;) {
    const state = await poll().catch(keepWaiting)
    if (state === 'confirmed') return toHex(built.id)
    if (state !== 'waiting') wallet.release(built.id)
    if (state === 'done') return undefined
    if (state === 'expired')
      throw new Layer1Error('LAYER1_TIMEOUT', 'Layer 1 did not include the transaction in time')
    await context.pause(options.pollMs)
  }
}

const finalCodes: ReadonlySet<string> = new Set([
  'LAYER1_REJECTED',
  'LAYER1_WRONG_NETWORK',
  'LAYER1_UNAUTHORIZED',
])

/** A failure that leaves the transaction's outcome open does not end the wait. */
function keepWaiting(error: unknown): 'waiting' {
  if (!isLayer1Error(error)) throw error
  if (finalCodes.has(error.code) && !error.mayHaveEffect) throw error
  return 'waiting'
}

interface ChainLink {
  /** Outputs that only it should spend: once one is spent, its purpose is fulfilled or has failed. */
  readonly spends: readonly Utxo[]
  readonly draft: TransactionDraft
  /** The transaction that is sent if none satisfies the draft. */
  readonly otherwise?: TransactionDraft
  /** Outputs of the wallet that do not pay for it. */
  readonly spared?: readonly Utxo[]
}

/**
 * Builds and sends transactions that may spend outputs of those before them, until layer 1 includes them:
 * all, or those before the first whose inputs others have spent. Throws as `submitAndConfirm`.
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
      if ((await confirm(context, entry.transaction, isDone)) === undefined) return included
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
