import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { slotToTime, timeToSlot } from './slots.js'

const preprod = { zeroTime: 1_655_769_600_000n, zeroSlot: 86_400n, slotLength: 1000 }

describe('slots', () => {
  it('begin where the configuration says', () => {
    expect(slotToTime(preprod, 86_400n)).toBe(1_655_769_600_000n)
    expect(slotToTime(preprod, 86_401n)).toBe(1_655_769_601_000n)
  })

  it('last until the next begins', () => {
    expect(timeToSlot(preprod, 1_655_769_600_999n)).toBe(86_400n)
    expect(timeToSlot(preprod, 1_655_769_599_999n)).toBe(86_399n)
  })

  it('hold the times between their beginning and the next', () => {
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
