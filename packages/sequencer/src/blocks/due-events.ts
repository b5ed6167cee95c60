import type { Header } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes } from '@ratatosk/cbor'
import { slotToTime, type Utxo } from '@ratatosk/ledger'
import type { CreditedDeposit } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { creditedOf } from '../state/deposits.js'
import { forgetDeposits } from '../state/forget-deposits.js'

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
 * The deposits of a block to come. Those that removed blocks had credited, and that are gone from layer 1 or
 * came back as others, leave the ledger with all that follows from them. So do the fee outputs of these
 * blocks.
 */
export async function planEvents(
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
