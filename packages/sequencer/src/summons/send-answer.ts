import { BytesMap, type BytesSet, toHex } from '@ratatosk/cbor'
import { isLayer1Away, isLayer1Error, lacksInput } from '@ratatosk/layer1'
import { decodeTransaction, type Transaction } from '@ratatosk/ledger'
import type { AnswerTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import type { AnswerMeans } from '../types.js'

/** Shares of a transaction's validity after which it is sent again. */
const sendings = 4

/** The status of a recorded transaction. `dead`: layer 1 can no longer include it. */
export type AnswerState = 'included' | 'pending' | 'dead'

export type AnswerContext = SequencerContext & { readonly answers: AnswerMeans }

export const canAnswer = (context: SequencerContext): context is AnswerContext =>
  context.contracts.summons !== undefined && context.answers !== undefined

/**
 * Looks up recorded answers, parents first, and sends unknown ones again. Adds expired ones to `dead`.
 *
 * @param failed takes what fails for one of them, which touches no other
 */
export async function followAnswers(
  context: AnswerContext,
  recorded: readonly AnswerTransaction[],
  slot: bigint,
  dead: BytesSet,
  failed: (recorded: AnswerTransaction, error: unknown) => void,
): Promise<BytesMap<AnswerState>> {
  const states = new BytesMap<AnswerState>()
  for (const { transaction, ...each } of inOrder(recorded)) {
    const { id } = each
    const state = transaction.body.inputs.some(({ transactionId }) => dead.has(transactionId))
      ? 'dead'
      : await follow(context, each, transaction, slot).catch((error: unknown) => {
          if (isLayer1Away(error) || context.signal.aborted) throw error
          failed(each, error)
          return 'pending' as const
        })
    states.set(id, state)
    if (state !== 'dead') continue
    dead.add(id)
    context.answers.wallet.release(id)
  }
  return states
}

/** Sorts transactions so that each comes after those whose outputs it spends or reads. */
function inOrder(recorded: readonly AnswerTransaction[]) {
  const all = recorded.map((each) => ({ ...each, transaction: decodeTransaction(each.cbor) }))
  const byId = new BytesMap(all.map((each) => [each.id, each] as const))
  const sorted = new Set<(typeof all)[number]>()
  const place = (each: (typeof all)[number]): void => {
    const { inputs, referenceInputs } = each.transaction.body
    for (const { transactionId } of [...inputs, ...referenceInputs]) {
      const parent = byId.get(transactionId)
      if (parent !== undefined && !sorted.has(parent)) place(parent)
    }
    sorted.add(each)
  }
  for (const each of all) place(each)
  return [...sorted]
}

async function follow(
  context: AnswerContext,
  recorded: AnswerTransaction,
  { body }: Transaction,
  slot: bigint,
): Promise<AnswerState> {
  const { layer1, signal, cache, slots, options } = context
  const { wallet } = context.answers
  const { id } = recorded
  const sentAt = cache.answerSentAt.get(id)
  const resendAfter = BigInt(Math.ceil(options.blockValidityMs / sendings / slots.slotLength))
  // A tip older than `sentAt`: layer 1 was rolled back and may have lost the transaction.
  if (sentAt !== undefined && slot >= sentAt && slot < sentAt + resendAfter) return 'pending'
  const { kind } = await layer1.status(id, { signal })
  if (kind === 'confirmed') return 'included'
  const { invalidHereafter } = body.validityInterval
  if (kind === 'unknown' && invalidHereafter !== undefined && slot >= invalidHereafter) return 'dead'
  // Sent by an earlier process: other transactions must not spend its inputs.
  if (!wallet.isInFlight(id)) await wallet.adopt(recorded.cbor, { signal })
  if (kind === 'pending') {
    cache.answerSent(id, slot)
    return 'pending'
  }
  return (await sendAnswer(context, recorded, slot)) ? 'pending' : 'dead'
}

/** Sends a recorded transaction. @returns false if layer 1 refuses it for good */
export async function sendAnswer(
  context: AnswerContext,
  { id, cbor, stage }: AnswerTransaction,
  slot: bigint,
): Promise<boolean> {
  const { layer1, cache, signal, log } = context
  const { wallet } = context.answers
  try {
    await wallet.submit({ id, bytes: cbor }, { signal })
  } catch (error) {
    if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
    log.warn(
      { transaction: toHex(id), reason: error.reason },
      `Layer 1 refused an answer to a question: ${error.message}`,
    )
    // It may wait in a mempool that the provider does not show, or be overtaken.
    const isDead =
      !error.mayHaveEffect || (await lacksInput(layer1, wallet, decodeTransaction(cbor), { signal }))
    if (isDead) {
      wallet.release(id)
      return false
    }
  }
  cache.answerSent(id, slot)
  if (stage === 'answer') context.step('answer-sent')
  return true
}
