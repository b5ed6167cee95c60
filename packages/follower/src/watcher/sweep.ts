import { BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { encodeBech32Address, keyAddress, slotToTime } from '@ratatosk/ledger'
import { isWalletError, type TransactionDraft } from '@ratatosk/ledger/builder'
import {
  endQuestion,
  mostInReclaim,
  type OpenQuestion,
  reclaimQuestions,
  type StateQueue,
  staleFrom,
} from '@ratatosk/protocol'
import { encodeExpiry, encodeReclaim } from '@ratatosk/protocol/fraud'
import type { WatcherContext } from './context.js'
import { readSummonses } from './questions.js'
import { readScripts } from './read-layer1.js'
import { sparedOf } from './send.js'

/** Returned bonds that one transaction takes. */
const mostAtOnce = 30
/** Transactions in flight at once that reclaim bonds. */
const mostReclaims = 10
/**
 * Questions about a removed block that wait until they are stale. Of more, one is ended, for 1.4 ada, since
 * the others return beside its verdict.
 */
const mostWaiting = 3
/** Bytes of the datum of a returned bond: the name of its question. */
const datumLength = 34

/**
 * Returns the bonds of questions to the wallet: reclaims those whose blocks left the queue without an answer,
 * and takes returned ones from its key's address without a stake part.
 *
 * @returns whether more is to be done
 */
export async function sweepBonds(
  context: WatcherContext,
  queue: Pick<StateQueue, 'blocks'>,
  slot: bigint,
): Promise<boolean> {
  if (context.contracts.summons === undefined) return false
  if (await isSweeping(context, slot)) return true
  const drafts = await draftReturns(context, queue)
  for (const draft of drafts.slice(0, mostReclaims))
    if (!(await sweep(context, draft, slot, 'Ended a question without an answer, whose block is gone'))) break
  return (await takeReturned(context, slot)) || drafts.length > 0
}

/** Whether layer 1 may still include an earlier sweep. */
async function isSweeping(context: WatcherContext, slot: bigint): Promise<boolean> {
  const { sweeps, signal } = context
  const outbox = await context.outbox()
  for (const each of [...sweeps.values()])
    if ((await outbox.follow(each, slot, { signal })) !== 'pending') sweeps.delete(each.id)
  return sweeps.size > 0
}

/**
 * Returns the bonds of own questions without an answer, whose blocks are gone: beside a verdict, or long ago.
 * One of several without a verdict is ended with one.
 */
async function draftReturns(
  context: WatcherContext,
  { blocks }: Pick<StateQueue, 'blocks'>,
): Promise<readonly TransactionDraft[]> {
  const { contracts, layer1, wallet, signal } = context
  const inQueue = new BytesSet(blocks.map(({ headerHash }) => headerHash))
  const isOwn = ({ question }: OpenQuestion) => equalBytes(question.refund, wallet.keys.payment.hash)
  // It reports what it does not read, also while nothing is disputed.
  const { open, verdicts } = await readSummonses(context)
  const gone = [...open]
    .filter(([headerHash]) => !inQueue.has(headerHash))
    .map(([headerHash, questions]) => ({ verdict: verdicts.get(headerHash), own: questions.filter(isOwn) }))
    .filter(({ own }) => own.length > 0)
  if (gone.length === 0) return []
  const [slots, scripts] = [await layer1.slots({ signal }), await readScripts(context)]
  const now = slotToTime(slots, await layer1.currentSlot({ signal }))
  return gone.flatMap(({ verdict, own }) => {
    const stale = own.filter((asked) => verdict !== undefined || staleFrom(contracts, asked) <= now)
    const over = own.find(({ question }) => question.deadline <= now)
    if (stale.length === 0 && over !== undefined && own.length > mostWaiting)
      return [endQuestion(contracts, over, encodeExpiry(0), slots, scripts)]
    return inParts(stale, mostInReclaim).map((asked) =>
      reclaimQuestions(contracts, { asked, verdict, redeemer: encodeReclaim, slots }, scripts),
    )
  })
}

const inParts = <Each>(all: readonly Each[], most: number): readonly (readonly Each[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, part) => all.slice(part * most, (part + 1) * most))

async function takeReturned(context: WatcherContext, slot: bigint): Promise<boolean> {
  const { wallet, layer1, signal } = context
  const address = encodeBech32Address(keyAddress(wallet.keys.payment.hash, layer1.networkId))
  if (address === wallet.address) return false
  const bonds = (await layer1.utxosAt(address, { signal })).filter(
    ({ output: { datum, value, referenceScript } }) =>
      datum.kind === 'inline' &&
      datum.data.length === datumLength &&
      value.assets.size === 0 &&
      referenceScript === undefined,
  )
  if (bonds.length === 0) return false
  const inputs = bonds.slice(0, mostAtOnce).map((utxo) => ({ utxo }))
  await sweep(context, { inputs }, slot, `Took bonds of questions back: ${inputs.length}`)
  return true
}

/** @returns whether it is sent */
async function sweep(
  context: WatcherContext,
  draft: TransactionDraft,
  slot: bigint,
  line: string,
): Promise<boolean> {
  const { wallet, sweeps, signal, log } = context
  try {
    const outbox = await context.outbox()
    const { id, bytes } = await wallet.build(draft, { signal, spared: await sparedOf(context, draft) })
    const own = { id, bytes, stage: 'sweep' } as const
    sweeps.set(id, own)
    if ((await outbox.send(own, slot, { signal })) !== 'refused') {
      log.info({ transaction: toHex(id) }, line)
      return true
    }
    sweeps.delete(id)
  } catch (error) {
    // Taken already, by a transaction in flight; or there is no ada for the fee, which the status reports.
    const isUsual =
      isWalletError(error) &&
      (error.code === 'WALLET_INVALID_DRAFT' || error.code === 'WALLET_INSUFFICIENT_FUNDS')
    if (!isUsual) throw error
  }
  return false
}
