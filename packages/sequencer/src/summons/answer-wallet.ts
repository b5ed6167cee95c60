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
const minimumFunds = 30_000_000n
/** Lovelace that it then gets: a long answer locks up to 18 ada, and takes collateral. */
export const fundedWith = 60_000_000n
/** Lovelace for each answer that is in flight beside the first, and how many may be. */
const [besideFirst, mostBeside] = [19_000_000n, 6]

/** Lovelace with which so many questions are answered as fast as layer 1 takes answers. */
export const fundsFor = (questions: number): bigint =>
  minimumFunds + besideFirst * BigInt(Math.max(0, Math.min(questions - 1, mostBeside)))

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
 * @throws {WalletError} without ada for the first answer; {SequencerError} if no operator either
 */
export async function fundAnswerWallet(context: SequencerContext, slot: bigint): Promise<void> {
  const { answers, cache, signal } = context
  if (answers !== undefined) {
    const { address } = answers.wallet
    const [has, wanted] = [
      await answers.wallet.spendable({ paidByAda: true }, { signal }),
      fundsFor(cache.questionsDue),
    ]
    const lovelace = fundedWith + wanted - minimumFunds
    if (has < wanted)
      await fund(context, address, lovelace, slot).catch(async (error: unknown) => {
        if (!isPoor(error)) throw error
        if (has < minimumFunds)
          await fund(context, address, fundedWith, slot).catch((lack: unknown) => explainLack(context, lack))
      })
  }
  cache.mayLackAnswerFunds = false
}

const isPoor = (error: unknown): boolean => isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS'

/** A key that is no operator's is not to be funded: it may be the wrong one. */
async function explainLack(context: SequencerContext, error: unknown): Promise<never> {
  if (isPoor(error)) {
    const { hash } = context.operator.keys.payment
    const registry = await findRegistry(context)
    if (!registry?.datum.operators.some(({ vkey }) => equalBytes(vkey, hash))) throw notRegistered()
  }
  throw error
}

async function fund(
  context: SequencerContext,
  address: string,
  lovelace: bigint,
  slot: bigint,
): Promise<void> {
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
  const built = await operator.build({ outputs: [{ address, lovelace }], validUntil }, { signal })
  cache.answerFunding = built
  await submit(operator, built, signal)
  log.info({ transaction: toHex(built.id) }, `Sent ${lovelace / 1_000_000n} ada to the wallet for answers`)
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
