import { slotToTime } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { SequencerError } from '../errors.js'
import { planTimes } from './plan-block.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }
const turnLength = 60_000n
const blockValidityMs = 10_000
const vkey = new Uint8Array(28)
const datum = { operators: [{ vkey, activeFrom: 0n, activeUntil: undefined }] }

/** Commits once in each slot where that is possible; a tip is a slot old. */
async function endsOfBlocks(begin: number, end: number, step: number) {
  const ends: { readonly slot: number; readonly endTime: bigint }[] = []
  let previousEnd = 0n
  for (let slot = begin; slot < end; slot += step) {
    const plan = await planTimes(
      {
        layer1: { currentSlot: async () => BigInt(Math.floor(slot)) },
        contracts: { parameters: { turnLength } },
        operator: { keys: { payment: { hash: vkey } } },
        slots,
        options: { blockValidityMs },
      } as unknown as Parameters<typeof planTimes>[0],
      { datum } as unknown as Parameters<typeof planTimes>[1],
      previousEnd,
      BigInt(Math.floor(slot) - 1),
    )
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
