import { expect, test } from 'vitest'
import { firstFound, smallestFirst, step } from './smallest-proof.js'

const encode = (length: number) => new Uint8Array(length)

test('finds the smallest of the first proofs, then the others, and then those that follow', () => {
  const lengths = Array.from({ length: 40 }, (_, place) => 100 - place)
  const found = [...smallestFirst(lengths, encode)].map((each) => each?.map(({ proof }) => proof))
  expect(found.map((each) => each?.[0])).toEqual([85, 69, 61])
  expect(found.map((each) => each?.length)).toEqual([16, 16, 8])
  expect(found.flatMap((each) => each?.toReversed() ?? [])).toEqual(lengths)
  expect(firstFound(smallestFirst(lengths, encode))?.redeemer).toHaveLength(85)
})

test('passes the steps of a search on, also if it finds nothing', () => {
  expect([...smallestFirst([step, step], encode)]).toEqual([step, step])
  expect(firstFound(smallestFirst([step, 3, step], encode))?.proof).toBe(3)
  expect(firstFound(smallestFirst([step], encode))).toBeUndefined()
})

test('holds no fraud back for more than 4,096 steps', () => {
  let steps = 0
  function* search() {
    yield 3
    yield 2
    for (; steps < 10_000; steps++) yield step
    yield 1
  }
  expect(firstFound(smallestFirst(search(), encode))?.proof).toBe(2)
  expect(steps).toBe(4095)
})
