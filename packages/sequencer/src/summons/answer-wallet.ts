import { BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import {
  createOutbox,
  isLayer1Away,
  isLayer1Error,
  type Outbox,
  type OutboxState,
  type Wallet,
} from '@ratatosk/layer1'
import { decodeTransaction, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import type { AnswerTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { notRegistered } from '../errors.js'
import { findRegistry } from '../state/queue-elements.js'
import type { AnswerMeans } from '../types.js'

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

/** Shares of a transaction's validity after which it is sent again. */
const sendings = 4

export type AnswerContext = SequencerContext & { readonly answers: AnswerMeans }

export const canAnswer = (context: SequencerContext): context is AnswerContext =>
  context.contracts.summons !== undefined && context.answers !== undefined

/** Opens the outbox of recorded answers. */
export const openAnswerOutbox = ({ layer1, answers, slots, options, log }: AnswerContext): Outbox =>
  createOutbox({
    layer1,
    wallet: answers.wallet,
    resendEverySlots: Math.ceil(options.blockValidityMs / sendings / slots.slotLength),
    log,
  })

/** An answer as the outbox takes it. */
export const letterOf = ({ id, cbor }: Pick<AnswerTransaction, 'id' | 'cbor'>) => ({ id, bytes: cbor })

/**
 * Looks up recorded answers, parents first, and sends unknown ones again.
 *
 * @param failed takes what fails for one of them, which touches no other
 */
export async function followAnswers(
  { signal }: AnswerContext,
  outbox: Outbox,
  recorded: readonly AnswerTransaction[],
  slot: bigint,
  failed: (recorded: AnswerTransaction, error: unknown) => void,
): Promise<BytesMap<OutboxState>> {
  const states = new BytesMap<OutboxState>()
  for (const each of inOrder(recorded)) {
    const state = await outbox.follow(letterOf(each), slot, { signal }).catch((error: unknown) => {
      if (isLayer1Away(error) || signal.aborted) throw error
      failed(each, error)
      return 'pending' as const
    })
    states.set(each.id, state)
  }
  return states
}

/** Sorts transactions so that each comes after those whose outputs it spends or reads. */
function inOrder(recorded: readonly AnswerTransaction[]): AnswerTransaction[] {
  const all = recorded.map((each) => ({ recorded: each, transaction: decodeTransaction(each.cbor) }))
  const byId = new BytesMap(all.map((each) => [each.recorded.id, each] as const))
  const sorted = new Set<AnswerTransaction>()
  const place = ({ recorded, transaction }: (typeof all)[number]): void => {
    const { inputs, referenceInputs } = transaction.body
    for (const { transactionId } of [...inputs, ...referenceInputs]) {
      const parent = byId.get(transactionId)
      if (parent !== undefined && !sorted.has(parent.recorded)) place(parent)
    }
    sorted.add(recorded)
  }
  for (const each of all) place(each)
  return [...sorted]
}
