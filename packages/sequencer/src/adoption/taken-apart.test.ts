import { expect, test } from 'vitest'
import { randomOf, transactionsOf } from '../../../follower/dist/test/hostile/generated-bodies.js'
import { takeApart, takeApartAgain } from './adopt-block.js'

const [kept, again] = [takeApart, takeApartAgain]

test('a large block is taken apart into the same, of which only ids and bytes are kept', async () => {
  const transactions = ['one read each', 'outputs of nothing', 'many inputs'].flatMap((shape) =>
    transactionsOf(shape, 0.003, randomOf(1)),
  )
  const [one, other] = [await kept(transactions), await again(transactions)]
  expect(transactions.length).toBeGreaterThan(100)
  expect(other?.identified).toEqual(one?.identified.map(({ id, cbor }) => ({ id, cbor })))
  expect(await other?.all()).toEqual(await one?.all())
  for (const place of transactions.keys()) expect(other?.at(place)).toEqual(one?.at(place))
})

test.each([kept, again])('nothing is said of a block in which one does not decode', async (take) => {
  expect(await take([...transactionsOf('mixed', 0.001, randomOf(1)), Uint8Array.of(0x80)])).toBeUndefined()
})
