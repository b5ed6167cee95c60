import { BytesMap } from '@ratatosk/cbor'
import { createOutbox, isLayer1Away, type Outbox, type OutboxState } from '@ratatosk/layer1'
import { decodeTransaction } from '@ratatosk/ledger'
import type { AnswerTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import type { AnswerMeans } from '../types.js'

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
