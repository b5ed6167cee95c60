import { chain, freeOfCharge, fundsOf, keyOf } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { type Candidate, examine, isCandidate } from './examine.js'
import { Orphans } from './orphans.js'

const context = { parameters: freeOfCharge, networkId: 0, slot: 0n }
const [funds] = fundsOf(keyOf(2), 1, 10_000_000n)
const links = chain(keyOf(2), funds!.reference, 10_000_000n, 5).map(({ cbor }): Candidate => {
  const examined = examine(cbor, context)
  if (!isCandidate(examined)) throw new Error('not a transaction')
  return examined
})
const size = links[0]!.transaction.bytes.length

function following(orphans: Orphans, candidates: readonly Candidate[], now = 0): readonly Candidate[] {
  return orphans.following(candidates, now).map(({ candidate }) => candidate)
}

function keep(orphans: Orphans, n: number, until = 1000): void {
  orphans.keep(links[n]!, [links[n]!.named[0]!.key], until)
}

test('finds the transactions that can follow, and those that can follow them', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  for (const n of [4, 1, 2]) keep(orphans, n)
  expect(following(orphans, [links[0]!])).toEqual([links[1], links[2]])
  expect(following(orphans, [links[0]!, links[3]!])).toEqual([links[1], links[4], links[2]])
  expect(following(orphans, [links[2]!])).toEqual([])
})

test('does not find a candidate of the batch itself', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  keep(orphans, 1)
  expect(following(orphans, [links[0]!, links[1]!])).toEqual([])
})

test('does not find a copy that has expired or was dropped', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  keep(orphans, 1, 1000)
  expect(following(orphans, [links[0]!], 999)).toEqual([links[1]])
  expect(following(orphans, [links[0]!], 1000)).toEqual([])
  expect(orphans.size).toBe(0)
  keep(orphans, 1)
  orphans.drop(links[1]!.key)
  expect(following(orphans, [links[0]!])).toEqual([])
})

test.each([
  { count: 2, bytes: 100_000 },
  { count: 10, bytes: 2 * size },
])('keeps the newest copies within %j', (limits) => {
  const orphans = new Orphans(limits)
  for (const n of [1, 2, 3]) keep(orphans, n)
  expect(orphans.size).toBe(2)
  expect(following(orphans, [links[0]!])).toEqual([])
  expect(following(orphans, [links[1]!])).toEqual([links[2], links[3]])
  keep(orphans, 2)
  keep(orphans, 4)
  expect(following(orphans, [links[1]!])).toEqual([links[2]])
})

test('a copy without verified signatures does not replace one that has them', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  keep(orphans, 1)
  orphans.keep({ ...links[1]!, verified: false }, [links[1]!.named[0]!.key], 2000)
  expect(following(orphans, [links[0]!])).toEqual([links[1]])
  expect(orphans.until(links[1]!.key)).toBe(2000)
})
