import { expect, test } from 'vitest'
import { accepted, rejected } from './event-lists.js'

const at = '2026-03-04T05:06:07.000Z'

test('many acceptances take no rejection away', () => {
  const rejection = { id: 's-1', code: 'FeeTooSmallUTxO', reason: 'The fee is too small', at }
  rejected.add(rejection)
  for (let second = 0; second < 10; second++) {
    for (let n = 0; n < 200; n++) accepted.add({ txHash: `${second}.${n}`, at })
    for (const kind of [accepted, rejected]) kind.show()
  }
  expect(rejected.shown.value).toEqual([rejection])
  expect(accepted.shown.value.map(({ txHash }) => txHash)).toEqual(
    [199, 198, 197, 196, 195, 194].map((n) => `9.${n}`),
  )
})

test('a transaction that is accepted again is listed once', () => {
  for (const txHash of ['a', 'b', 'a']) accepted.add({ txHash, at })
  accepted.show()
  accepted.add({ txHash: 'b', at })
  accepted.show()
  expect(accepted.shown.value.slice(0, 3).map(({ txHash }) => txHash)).toEqual(['b', 'a', '9.199'])
})
