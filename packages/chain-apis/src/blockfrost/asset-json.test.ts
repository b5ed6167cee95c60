import { expect, it } from 'vitest'
import { fingerprint } from './asset-json.js'

// The test vectors of CIP-14.
it.each([
  [
    '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc373',
    'asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3',
  ],
  [
    '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc37e',
    'asset1nl0puwxmhas8fawxp8nx4e2q3wekg969n2auw3',
  ],
  [
    '1e349c9bdea19fd6c147626a5260bc44b71635f398b67c59881df209504154415445',
    'asset1hv4p5tv2a837mzqrst04d0dcptdjmluqvdx9k3',
  ],
])('the fingerprint of %s', (unit, text) => {
  expect(fingerprint(unit)).toBe(text)
})
