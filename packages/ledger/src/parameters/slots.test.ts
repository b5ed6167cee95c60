import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { slotToTime, timeToSlot } from './slots.js'

const preprod = { zeroTime: 1_655_769_600_000n, zeroSlot: 86_400n, slotLength: 1000 }

describe('slotToTime and timeToSlot', () => {
  it('start counting at the configured slot and time', () => {
    expect(slotToTime(preprod, 86_400n)).toBe(1_655_769_600_000n)
    expect(slotToTime(preprod, 86_401n)).toBe(1_655_769_601_000n)
  })

  it('map every time before the next slot to the current one', () => {
    expect(timeToSlot(preprod, 1_655_769_600_999n)).toBe(86_400n)
    expect(timeToSlot(preprod, 1_655_769_599_999n)).toBe(86_399n)
  })

  it('map the times within a slot to that slot', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 15n), 10n ** 15n),
        fc.integer({ min: 1, max: 20_000 }),
        (time, slotLength) => {
          const slots = { ...preprod, slotLength }
          const slot = timeToSlot(slots, time)
          expect(slotToTime(slots, slot) <= time && time < slotToTime(slots, slot + 1n)).toBe(true)
        },
      ),
    )
  })
})
