import type { Header } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes } from '@ratatosk/cbor'
import { countingOperators, endOfTurn, operatorInTurn } from '@ratatosk/contracts'
import { outputReferenceKey, slotToTime, timeToSlot, type Utxo } from '@ratatosk/ledger'
import {
  type BlockElement,
  firstSlotFrom,
  type RegistryElement,
  type RootElement,
  takeOverAfterOf,
} from '@ratatosk/protocol'
import type { CreditedDeposit } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { notRegistered, retired, SequencerError } from '../errors.js'
import type { QueueView } from '../queue/reconcile.js'
import { creditedOf, forgetDeposits } from '../state/ledger-state.js'
import { elementOf, findRegistry, rootAfter } from '../state/queue-elements.js'
import { fundAnswerWallet } from '../summons/answer-wallet.js'

/** The block's end, the deposits that it credits, and the queue's tail before it. */
export interface BlockPlan {
  readonly events: DueEvents
  readonly tail: Tail
  readonly registry: RegistryElement
  readonly times: CommitTimes
}

export type NoPlan =
  /** The operators have changed: the queue has to be compared before a block is built. */
  | { readonly kind: 'outdated' }
  /** A block can be committed later. */
  | { readonly kind: 'wait'; readonly reason: SequencerError }

/** Plans the next block. @throws {SequencerError} `SEQUENCER_NO_ANSWERS` when no one would answer for it */
export async function planBlock(context: SequencerContext, view: QueueView): Promise<BlockPlan | NoPlan> {
  if (context.contracts.summons !== undefined && context.answers === undefined) throw noAnswers()
  // Nothing is ever built on a block that was not judged valid: it would be removed with that block.
  if (view.obstacle !== undefined) return { kind: 'wait', reason: view.obstacle }
  const { length } = view.local.unconfirmed
  if (length >= context.options.maxUnconfirmed) {
    const message = `${length} blocks are unconfirmed: wait until layer 1 has included one`
    return { kind: 'wait', reason: new SequencerError('SEQUENCER_TOO_MANY_UNCONFIRMED', message) }
  }
  await fundAnswerWallet(context, view.tip.slot)
  const tail = tailOf(context, view)
  const registry = await readOperators(context)
  if (context.cache.comparison === undefined) return { kind: 'outdated' }
  const times = await planTimes(context, registry, tail.endTime, view.tip.slot)
  if (times instanceof SequencerError) return { kind: 'wait', reason: times }
  const events = await planEvents(context, { startTime: tail.endTime, endTime: times.endTime })
  return events instanceof SequencerError
    ? { kind: 'wait', reason: events }
    : { tail, registry, times, events }
}

const noAnswers = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_NO_ANSWERS',
    'The deployment has a summons, and this process does not answer its questions: nothing is committed, ' +
      'because a question without an answer costs the bond',
  )

/** The end of the queue to which a new block is appended. */
interface Tail {
  readonly root: RootElement
  readonly block: BlockElement | undefined
  readonly hash: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly endTime: bigint
}

/** The newest block, or the root when every block is merged or its merge is pending. */
function tailOf({ contracts }: SequencerContext, { root: present, local, tail, pending }: QueueView): Tail {
  const root = rootAfter(contracts, pending, present)
  const { newest } = local
  const isMerging = pending.some(({ kind, block }) => kind === 'merge' && block.height === newest?.height)
  if (newest === undefined || newest.state === 'merged' || isMerging) {
    const { headerHash: hash, utxoRoot: utxosRoot, endTime } = root.datum.state
    return { root, block: undefined, hash, utxosRoot, endTime }
  }
  const { headerHash: hash, utxosRoot, endTime } = newest
  const isTail = tail !== undefined && equalBytes(tail.headerHash, hash)
  const block = isTail ? tail : elementOf(contracts, newest, undefined)
  if (block === undefined) throw new Error(`The queue has no element of block ${newest.height}`)
  return { root, block, hash, utxosRoot, endTime }
}

/** Reads the registry; a change may be a slashing. @throws {SequencerError} `SEQUENCER_NOT_REGISTERED` */
async function readOperators(context: SequencerContext): Promise<RegistryElement> {
  const registry = await findRegistry(context)
  context.cache.readRegistry(registry && outputReferenceKey(registry.utxo.reference))
  const { hash } = context.operator.keys.payment
  if (registry?.datum.operators.some(({ vkey }) => equalBytes(vkey, hash))) return registry
  throw notRegistered()
}

interface CommitTimes {
  /** First slot in which the commit is valid. */
  readonly slot: bigint
  /** End of the block and of the commit's validity: POSIX milliseconds, the start of a slot. */
  readonly endTime: bigint
}

/**
 * Chooses the end of a block: within the operator's turn, after the previous block, and late enough for layer
 * 1. Near the turn's end a block waits: blocks that each end a slot later would use up the turn. In another
 * operator's turn it takes over if the previous block ended long enough before. Returns a
 * {@link SequencerError} when the block has to wait for another turn.
 */
export async function planTimes(
  {
    layer1,
    contracts,
    operator,
    slots,
    options: { blockValidityMs },
    signal,
  }: Pick<SequencerContext, 'layer1' | 'contracts' | 'operator' | 'slots' | 'options' | 'signal'>,
  { datum }: Pick<RegistryElement, 'datum'>,
  previousEnd: bigint,
  tip: bigint,
): Promise<CommitTimes | SequencerError> {
  const { turnLength } = contracts.parameters
  const takeOverAfter = takeOverAfterOf(contracts.parameters)
  const current = await layer1.currentSlot({ signal })
  const now = slotToTime(slots, current)
  const isOwn = ({ vkey }: { vkey: Uint8Array }) => equalBytes(vkey, operator.keys.payment.hash)
  const own = datum.operators.find(isOwn)
  if (own?.activeUntil !== undefined && now >= own.activeUntil) throw retired()
  if (own !== undefined && now < own.activeFrom) return notYet(own.activeFrom, now)
  const scheduled = operatorInTurn(datum, now, turnLength)
  if (scheduled === undefined) return notInTurn('The turns of the operators have not begun')
  const turnEnd = endOfTurn(now, turnLength)
  // The tip's slot, in case this clock is ahead of the network's, but not before the turn: the whole validity
  // lies in one turn.
  const slot = max(min(tip, current), firstSlotFrom(slots, turnEnd - turnLength))
  const from = slotToTime(slots, slot)
  const takesOver = !isOwn(scheduled)
  if (
    takesOver &&
    (previousEnd + takeOverAfter > from || !countingOperators(datum, now, turnLength).some(isOwn))
  )
    return notInTurn("It is another operator's turn")
  const end = takesOver ? min(turnEnd, from + takeOverAfter) : turnEnd
  const latest = slotToTime(slots, timeToSlot(slots, end))
  const longest = takesOver ? min(BigInt(blockValidityMs), takeOverAfter) : BigInt(blockValidityMs)
  const shortest = min(longest, turnLength) / 3n
  // A block that ends with the turn is the turn's last: near its end, each block takes half of the time left.
  const validity = min(longest, max(shortest, (turnEnd - now) / 2n))
  const wanted = validity < longest ? now + validity : max(now + validity, previousEnd + 1n)
  const endTime = min(slotToTime(slots, firstSlotFrom(slots, wanted)), latest)
  if (endTime <= previousEnd && previousEnd < latest)
    return notInTurn(
      "The operator's turn is nearly over, and the previous block ends later than this one may",
      'wait a few seconds',
    )
  if (endTime <= previousEnd || endTime - now < shortest)
    return notInTurn("Too little of the operator's turn is left")
  return { slot, endTime }
}

const notInTurn = (reason: string, advice = 'wait for the next turn'): SequencerError =>
  new SequencerError('SEQUENCER_NOT_IN_TURN', `${reason}: ${advice}`)

function notYet(activeFrom: bigint, now: bigint): SequencerError {
  const from = new Date(Number(activeFrom)).toISOString()
  const message = `The operator takes turns from ${from} on: wait until then`
  return new SequencerError('SEQUENCER_NOT_IN_TURN', message, Number(activeFrom - now))
}

export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The deposits that a block credits. */
interface DueEvents {
  /** Ascending by id. */
  readonly deposits: readonly CreditedDeposit[]
  /** The output of the newest one: a commit that refers to it is invalid on a fork without it. */
  readonly newest: Utxo | undefined
}

const none: DueEvents = { deposits: [], newest: undefined }

/** How a block that waits for layer 1's events is refused. */
const notRead = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_EVENTS_NOT_READ',
    'Layer 1 is read too late to know the deposits of the next block: check its provider',
  )

/**
 * The deposits of a block to come. Those that removed blocks had credited, and that are gone from layer 1 or
 * came back as others, leave the ledger with all that follows from them. So do the fee outputs of these
 * blocks.
 */
async function planEvents(
  context: SequencerContext,
  { startTime, endTime }: Pick<Header, 'startTime' | 'endTime'>,
): Promise<DueEvents | SequencerError> {
  const { events, store, signal, options } = context
  if (events === undefined) return none
  const due = await events.between(startTime, endTime, signal)
  if (due === 'not read yet') return notRead()
  const { deposits: present } = await events.events(signal)
  const onLayer1 = new BytesMap(present.map((deposit) => [deposit.id, deposit] as const))
  const ids = new BytesSet(due.map(({ id }) => id))
  const nextEnd = endTime + BigInt(options.blockValidityMs)
  const gone: Uint8Array[] = []
  for (const { id, output } of await store.blocks.waitingDeposits()) {
    const found = onLayer1.get(id)
    const isThere = found !== undefined && equalBytes(found.output, output)
    if (isThere && ids.has(id)) continue
    if (isThere && found.time >= endTime && found.time < nextEnd) return notRead()
    gone.push(id)
  }
  await forgetDeposits(context, gone)
  const credited = present.filter(({ id }) => ids.has(id))
  const newest = credited.reduce<(typeof credited)[number] | undefined>(
    (last, each) => (last === undefined || each.time > last.time ? each : last),
    undefined,
  )
  return { deposits: due.map(creditedOf), newest: newest?.utxo }
}

/** Whether layer 1 has a deposit that a block may credit by now, or one waits that it may have lost. */
export async function hasDueEvents(
  { events, layer1, slots, options, store, signal }: SequencerContext,
  startTime: bigint,
): Promise<boolean> {
  if (events === undefined) return false
  const { deposits } = await events.events(signal)
  const end = slotToTime(slots, await layer1.currentSlot({ signal })) + BigInt(options.blockValidityMs)
  if (deposits.some(({ time }) => time >= startTime && time < end)) return true
  return (await store.blocks.waitingDeposits()).length > 0
}
