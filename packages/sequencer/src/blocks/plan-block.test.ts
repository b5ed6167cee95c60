import { BytesSet, CborWriter } from '@ratatosk/cbor'
import { decodeTransaction, encodeOutputReference, type OutputReference, slotToTime } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { SequencerError } from '../errors.js'
import { pendingTransactions } from '../state/queue-elements.js'
import { planTimes } from './plan-block.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }
const turnLength = 60_000n
const blockValidityMs = 10_000
const vkey = new Uint8Array(28)
const datum = { operators: [{ vkey, activeFrom: 0n, activeUntil: undefined }] }

/** The plan of a slot; the tip is a slot old. */
const planAt = (slot: number, previousEnd: bigint, of: object = datum) =>
  planTimes(
    {
      layer1: { currentSlot: async () => BigInt(Math.floor(slot)) },
      contracts: { parameters: { turnLength } },
      operator: { keys: { payment: { hash: vkey } } },
      slots,
      options: { blockValidityMs },
    } as unknown as Parameters<typeof planTimes>[0],
    { datum: of } as unknown as Parameters<typeof planTimes>[1],
    previousEnd,
    BigInt(Math.floor(slot) - 1),
  )

/** Commits once in each slot where that is possible. */
async function endsOfBlocks(begin: number, end: number, step: number) {
  const ends: { readonly slot: number; readonly endTime: bigint }[] = []
  let previousEnd = 0n
  for (let slot = begin; slot < end; slot += step) {
    const plan = await planAt(slot, previousEnd)
    if (plan instanceof SequencerError) continue
    ends.push({ slot: Math.floor(slot), endTime: plan.endTime })
    previousEnd = plan.endTime
  }
  return ends
}

test('an operator who commits in every slot never ends a block later than its validity', async () => {
  const ends = await endsOfBlocks(0, 600, 1)
  for (const { slot, endTime } of ends)
    expect(endTime - slotToTime(slots, BigInt(slot))).toBeLessThanOrEqual(BigInt(blockValidityMs))
})

test('the only operator pauses at the end of a turn for a third of the validity', async () => {
  const ends = await endsOfBlocks(0, 600, 1)
  const pauses = ends.slice(1).map(({ slot }, index) => slot - ends[index]!.slot)
  expect(Math.max(...pauses)).toBe(4)
  expect(pauses.filter((pause) => pause > 2)).toHaveLength(9)
  // Each turn's last block ends with it.
  const last = ends.filter(({ endTime }) => endTime % turnLength === 0n)
  expect(last).toHaveLength(10)
})

test('commits that are asked for more often than slots begin end one slot after another', async () => {
  const [first, second, third] = await endsOfBlocks(20, 21, 0.3)
  expect([first, second, third].map((end) => end!.endTime)).toEqual([30_000n, 31_000n, 32_000n])
})

test('an operator takes over a quarter of a turn after the last block, and then waits again', async () => {
  const other = { ...datum.operators[0], vkey: new Uint8Array(28).fill(1) }
  // The other is in turn until slot 60; this one is from then on.
  const two = { operators: [other, ...datum.operators] }
  const isRefused = async (slot: number, previousEnd: bigint, of: object) =>
    expect(await planAt(slot, previousEnd, of)).toMatchObject({ code: 'SEQUENCER_NOT_IN_TURN' })
  // The block before ended in slot 10. The tip, a slot old, has to show that it is late.
  await isRefused(25, 10_000n, two)
  expect(await planAt(26, 10_000n, two)).toEqual({ slot: 25n, endTime: 36_000n })
  // The next may follow as late, or in the own turn.
  await isRefused(27, 36_000n, two)
  await isRefused(51, 36_000n, two)
  expect(await planAt(52, 36_000n, two)).toEqual({ slot: 51n, endTime: 56_000n })
  expect(await planAt(62, 60_000n, two)).toMatchObject({ slot: 61n })
  // One that does not count in this turn may not.
  const later = { operators: [other, { ...datum.operators[0], activeFrom: turnLength }] }
  await isRefused(40, 10_000n, later)
})

test('an operator whose turns are over, or have not begun, is told for how long', async () => {
  const retired = { operators: [{ vkey, activeFrom: 0n, activeUntil: 60_000n }] }
  expect(await planAt(59, 0n, retired)).toMatchObject({ code: 'SEQUENCER_NOT_IN_TURN' })
  await expect(planAt(60, 0n, retired)).rejects.toMatchObject({
    code: 'SEQUENCER_BOND_LOCKED',
    lastsMs: Number.POSITIVE_INFINITY,
  })
  const coming = { operators: [{ vkey, activeFrom: 120_000n, activeUntil: undefined }] }
  expect(await planAt(50, 0n, coming)).toMatchObject({ code: 'SEQUENCER_NOT_IN_TURN', lastsMs: 70_000 })
})

/** A transaction that spends an output, gives one as collateral and reads one. */
function transaction(spent: OutputReference, collateral: OutputReference, read: OutputReference) {
  const body = new CborWriter(256).map(5)
  body.uint(0).array(1).raw(encodeOutputReference(spent))
  body.uint(1).array(0).uint(2).uint(0)
  body.uint(13).array(1).raw(encodeOutputReference(collateral))
  body.uint(18).array(1).raw(encodeOutputReference(read))
  const rest = Uint8Array.of(0xf6)
  const cbor = new CborWriter(256).array(4).raw(body.toBytes()).map(0).boolean(true).raw(rest).toBytes()
  return { id: decodeTransaction(cbor).id, cbor }
}

const elsewhere = (n: number) => ({ transactionId: new Uint8Array(32).fill(n), index: 0 })
const merge = transaction(elsewhere(1), elsewhere(2), elsewhere(3))
const made = { transactionId: merge.id, index: 0 }

test.each([
  ['spends', transaction(made, elsewhere(4), elsewhere(5))],
  ['gives as collateral', transaction(elsewhere(4), made, elsewhere(5))],
  ['reads', transaction(elsewhere(4), elsewhere(5), made)],
])('a commit comes after the merge whose output it %s', (_does, commit) => {
  const pending = pendingTransactions(
    [{ state: 'submitted', commitTransaction: commit }] as unknown as Block[],
    [{ state: 'mature', mergeTransaction: merge }] as unknown as Block[],
    new BytesSet(),
  )
  expect(pending.map(({ kind }) => kind)).toEqual(['merge', 'commit'])
})
