import type { Header } from '@ratatosk/block'
import { BytesSet, toHex } from '@ratatosk/cbor'
import { decodeTransaction, slotToTime, type Utxo } from '@ratatosk/ledger'
import type { CreditedDeposit, DropReason } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { creditedOf } from '../state/deposits.js'
import { orphanOf, reasonOf } from './fill-block.js'

/** The deposits that a block credits. */
export interface DueEvents {
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
 * The deposits of a block to come. Those that removed blocks had credited, and that are gone from layer 1,
 * leave the ledger with all that follows from them.
 */
export async function planEvents(
  context: SequencerContext,
  { startTime, endTime }: Pick<Header, 'startTime' | 'endTime'>,
): Promise<DueEvents | SequencerError> {
  const { events, store, signal } = context
  if (events === undefined) return none
  const due = await events.between(startTime, endTime, signal)
  if (due === 'not read yet') return notRead()
  const { deposits: present } = await events.state(signal)
  const ids = new BytesSet(due.map(({ id }) => id))
  const waiting = await store.blocks.waitingDeposits()
  const others = waiting.filter((id) => !ids.has(id))
  if (others.length > 0) {
    const onLayer1 = new BytesSet(present.map(({ id }) => id))
    if (others.some((id) => onLayer1.has(id))) return notRead()
    await forgetDeposits(context, others)
  }
  const credited = present.filter(({ id }) => ids.has(id))
  const newest = credited.reduce<(typeof credited)[number] | undefined>(
    (last, each) => (last === undefined || each.time > last.time ? each : last),
    undefined,
  )
  return { deposits: due.map(creditedOf), newest: newest?.utxo }
}

/** Whether layer 1 has a deposit that a block may credit by now. */
export async function hasDueEvents(
  { events, layer1, slots, options, signal }: SequencerContext,
  startTime: bigint,
): Promise<boolean> {
  if (events === undefined) return false
  const { deposits } = await events.state(signal)
  if (deposits.length === 0) return false
  const end = slotToTime(slots, await layer1.currentSlot({ signal })) + BigInt(options.blockValidityMs)
  return deposits.some(({ time }) => time >= startTime && time < end)
}

/** Transactions of the mempool that are searched at a time, and their bytes. */
const [searchedAtOnce, searchedBytes] = [1_000, 4 * 1024 * 1024]

/** Takes deposits that have left layer 1 out of the ledger, with the transactions that name them. */
async function forgetDeposits(context: SequencerContext, ids: readonly Uint8Array[]): Promise<void> {
  const { store, lease, log, cache } = context
  const gone = new BytesSet(ids)
  const first = new Map<string, DropReason>()
  for (let after = 0n; ; ) {
    const page = await store.blocks.oldest(searchedAtOnce, searchedBytes, after)
    for (const { id, cbor } of page) {
      const deposit = namedBy(cbor).find((named) => gone.has(named))
      if (deposit !== undefined) first.set(toHex(id), rolledBack(toHex(deposit)))
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last.sequence
  }
  const dropped = first.size === 0 ? 0 : await store.blocks.drop(first, orphanOf, lease)
  await store.blocks.forgetDeposits(ids, lease)
  cache.ahead = []
  context.step('deposits-forgotten')
  log.warn(
    { deposits: ids.map(toHex), dropped },
    `Layer 1 no longer has ${ids.length} deposits that a removed block had credited: ` +
      `${dropped} transactions that follow from them are dead letters`,
  )
}

function namedBy(cbor: Uint8Array): readonly Uint8Array[] {
  const { inputs, collateralInputs, referenceInputs } = decodeTransaction(cbor).body
  return [...inputs, ...collateralInputs, ...referenceInputs].map(({ transactionId }) => transactionId)
}

const rolledBack = (deposit: string): DropReason =>
  reasonOf('BadInputsUTxO', `Layer 1 was rolled back and no longer has deposit ${deposit}`, { deposit })
