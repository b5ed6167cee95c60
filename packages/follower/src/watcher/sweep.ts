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
import { follow, forget, send, sparedOf } from './send.js'

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
  const { contracts, sendings } = context
  if (contracts.summons === undefined) return false
  const sweeps = [...sendings.values()].map(({ transaction }) => transaction)
  const earlier = await follow(
    context,
    sweeps.filter(({ stage }) => stage === 'sweep'),
    slot,
  )
  if (earlier.some(({ state }) => state === 'pending')) return true
  const drafts = await draftReturns(context, queue)
  for (const draft of drafts.slice(0, mostReclaims))
    if (!(await sweep(context, draft, 'Ended a question without an answer, whose block is gone'))) break
  return (await takeReturned(context)) || drafts.length > 0
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

async function takeReturned(context: WatcherContext): Promise<boolean> {
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
  await sweep(context, { inputs }, `Took bonds of questions back: ${inputs.length}`)
  return true
}

/** @returns whether it is sent */
async function sweep(context: WatcherContext, draft: TransactionDraft, line: string): Promise<boolean> {
  const { wallet, signal, log } = context
  try {
    const { id, bytes } = await wallet.build(draft, { signal, spared: await sparedOf(context, draft) })
    const own = { id, cbor: bytes, stage: 'sweep' } as const
    if (await send(context, own)) {
      log.info({ transaction: toHex(id) }, line)
      return true
    }
    await forget(context, own)
  } catch (error) {
    // Taken already, by a transaction in flight; or there is no ada for the fee, which the status reports.
    const isUsual =
      isWalletError(error) &&
      (error.code === 'WALLET_INVALID_DRAFT' || error.code === 'WALLET_INSUFFICIENT_FUNDS')
    if (!isUsual) throw error
  }
  return false
}
