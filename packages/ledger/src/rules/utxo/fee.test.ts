import { describe, expect, it } from 'vitest'
import { referenceScriptsFee } from '../utxo.js'

const fifteen = { numerator: 15n, denominator: 1n }

describe('the price of reference scripts', () => {
  it.each([
    [0, 0n],
    [1, 15n],
    [25_599, 383_985n],
    [25_600, 384_000n],
    // The first byte of the second tier costs 18.
    [25_601, 384_018n],
    [51_200, 844_800n],
    // 21.6 lovelace, rounded down once, at the end.
    [51_201, 844_821n],
    [51_202, 844_843n],
    [76_800, 1_397_760n],
    [204_800, 6_335_648n],
  ])('is tiered: %i bytes', (size, fee) => {
    expect(referenceScriptsFee(size, fifteen)).toBe(fee)
  })

  it('calculates with exact fractions of lovelace', () => {
    expect(referenceScriptsFee(3, { numerator: 1n, denominator: 3n })).toBe(1n)
    expect(referenceScriptsFee(2, { numerator: 1n, denominator: 3n })).toBe(0n)
  })
})
