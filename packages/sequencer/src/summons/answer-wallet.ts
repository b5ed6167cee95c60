import { equalBytes, toHex } from '@ratatosk/cbor'
import { isLayer1Error, type Wallet } from '@ratatosk/layer1'
import { encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import type { SequencerContext } from '../context.js'
import { notRegistered } from '../errors.js'
import { findRegistry } from '../state/queue-elements.js'

/**
 * Lovelace. A wallet for answers with less is funded before the next block is committed, and pays for own
 * answers only.
 */
export const minimumFunds = 30_000_000n
/** Lovelace that it then gets: a long answer locks up to 18 ada, and takes collateral. */
export const fundedWith = 60_000_000n

/**
 * The keys of the wallet that pays for an operator's answers: the operator's key, at an address of its own.
 * Answers never wait for commits then, commits never spend the change of an answer that may be overtaken, and
 * what answers need is not spent on anything else.
 */
export function answerKeys({ payment, address: operator }: WalletKeys): WalletKeys {
  const stake = { kind: 'key', hash: payment.hash } as const
  const address = keyAddress(payment.hash, operator.networkId === 1 ? 1 : 0, stake)
  return { payment, address, addressText: encodeBech32Address(address) }
}

/**
 * Sends ada to the wallet for answers if it has too little.
 * @throws {WalletError} without enough ada; {SequencerError} if the operator is not registered either
 */
export async function fundAnswerWallet(context: SequencerContext, slot: bigint): Promise<void> {
  const { answers, cache, signal } = context
  if (
    answers !== undefined &&
    (await answers.wallet.spendable({ paidByAda: true }, { signal })) < minimumFunds
  )
    await fund(context, answers.wallet.address, slot).catch((error: unknown) => explainLack(context, error))
  cache.mayLackAnswerFunds = false
}

/** A key that is no operator's is not to be funded: it may be the wrong one. */
async function explainLack(context: SequencerContext, error: unknown): Promise<never> {
  if (isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS') {
    const { hash } = context.operator.keys.payment
    const registry = await findRegistry(context)
    if (!registry?.datum.operators.some(({ vkey }) => equalBytes(vkey, hash))) throw notRegistered()
  }
  throw error
}

async function fund(context: SequencerContext, address: string, slot: bigint): Promise<void> {
  const { operator, layer1, cache, signal, slots, options, log } = context
  const sent = cache.answerFunding
  // Layer 1 may have lost it, and the next commit may spend its change. The wallet learns only when it builds
  // that layer 1 has included it.
  const isPending =
    sent !== undefined &&
    operator.isInFlight(sent.id) &&
    (await layer1.status(sent.id, { signal })).kind !== 'confirmed'
  if (isPending) return submit(operator, sent, signal)
  const validUntil = slot + BigInt(Math.ceil(options.blockValidityMs / slots.slotLength))
  const built = await operator.build({ outputs: [{ address, lovelace: fundedWith }], validUntil }, { signal })
  cache.answerFunding = built
  await submit(operator, built, signal)
  log.info({ transaction: toHex(built.id) }, `Sent ${fundedWith / 1_000_000n} ada to the wallet for answers`)
}

async function submit(
  operator: Wallet,
  transaction: Pick<BuiltTransaction, 'id' | 'bytes'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await operator.submit(transaction, { signal })
  } catch (error) {
    // The next call builds another.
    if (isLayer1Error(error) && error.code === 'LAYER1_REJECTED') operator.release(transaction.id)
    throw error
  }
}
