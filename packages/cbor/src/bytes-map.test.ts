import { expect, it } from 'vitest'
import { equalBytes } from './bytes.js'
import { BytesMap, BytesSet } from './bytes-map.js'

const [one, two] = [Uint8Array.of(0, 255), Uint8Array.of(255, 0)]

it('maps byte strings by content, in the order of insertion', () => {
  const map = new BytesMap([[one, 'one']]).set(two, 'two').set(one.slice(), 'again')
  expect([...map]).toEqual([
    [one, 'again'],
    [two, 'two'],
  ])
  expect([[...map.keys()], [...map.values()], map.size]).toEqual([[one, two], ['again', 'two'], 2])
  expect([map.get(two.slice()), map.get(new Uint8Array()), map.has(one.subarray(0, 1))]).toEqual([
    'two',
    undefined,
    false,
  ])
  expect([map.delete(one.slice()), map.delete(one), map.has(one)]).toEqual([true, false, false])
  map.clear()
  expect(map.size).toBe(0)
})

it('holds byte strings by content', () => {
  const set = new BytesSet([one, two, one.slice()])
  expect([[...set], set.size]).toEqual([[one, two], 2])
  expect([set.delete(one.slice()), set.has(one), set.has(two.slice())]).toEqual([true, false, true])
  expect(set.add(one).size).toBe(2)
})

it('distinguishes long byte strings', () => {
  const long = new Uint8Array(64 * 1024 * 1024)
  const other = long.with(long.length - 1, 1)
  const set = new BytesSet([long])
  expect([set.has(long.slice()), set.has(other)]).toEqual([true, false])
  const [kept] = set
  expect(kept && equalBytes(kept, long)).toBe(true)
})

it('keeps copies: a change of the given bytes changes nothing', () => {
  const bytes = Uint8Array.of(1, 2)
  const [map, set] = [new BytesMap([[bytes, 'one']]), new BytesSet([bytes])]
  bytes.fill(0)
  expect([[...map.keys()], [...set]]).toEqual([[Uint8Array.of(1, 2)], [Uint8Array.of(1, 2)]])
  expect([map.get(Uint8Array.of(1, 2)), set.has(bytes)]).toEqual(['one', false])
})
