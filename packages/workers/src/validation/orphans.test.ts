import { expect, test } from 'vitest'
import { freeOfCharge } from '../test/parameters.js'
import { chain, fundsOf, keyOf } from '../test/transfers.js'
import { Orphans } from './orphans.js'
import { type Candidate, examine, isCandidate } from './submission.js'

const context = { parameters: freeOfCharge, networkId: 0, slot: 0n }
const [funds] = fundsOf(keyOf(2), 1, 10_000_000n)
const links = chain(keyOf(2), funds!.reference, 10_000_000n, 5).map(({ cbor }, n): Candidate => {
  const examined = examine({ id: String(n), cbor, attempt: 1, submittedAt: new Date(0) }, context)
  if (!isCandidate(examined)) throw new Error('not a transaction')
  return examined
})
const size = links[0]!.submission.cbor.length

function keep(orphans: Orphans, n: number, until = 1000): void {
  orphans.keep(links[n]!, [links[n]!.named[0]!.key], until)
}

test('finds what could follow, and what could follow that', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  for (const n of [4, 1, 2]) keep(orphans, n)
  expect(orphans.following([links[0]!], 0)).toEqual([links[1], links[2]])
  expect(orphans.following([links[0]!, links[3]!], 0)).toEqual([links[1], links[4], links[2]])
  expect(orphans.following([links[2]!], 0)).toEqual([])
})

test('a candidate of the batch is not found again', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  keep(orphans, 1)
  expect(orphans.following([links[0]!, links[1]!], 0)).toEqual([])
})

test('a copy is no longer found when its time is over, or when it was dropped', () => {
  const orphans = new Orphans({ count: 10, bytes: 100_000 })
  keep(orphans, 1, 1000)
  expect(orphans.following([links[0]!], 999)).toEqual([links[1]])
  expect(orphans.following([links[0]!], 1000)).toEqual([])
  expect(orphans.size).toBe(0)
  keep(orphans, 1)
  orphans.drop(links[1]!.key)
  expect(orphans.following([links[0]!], 0)).toEqual([])
})

test.each([
  { count: 2, bytes: 100_000 },
  { count: 10, bytes: 2 * size },
])('holds no more than %j, the newest', (limits) => {
  const orphans = new Orphans(limits)
  for (const n of [1, 2, 3]) keep(orphans, n)
  expect(orphans.size).toBe(2)
  expect(orphans.following([links[0]!], 0)).toEqual([])
  expect(orphans.following([links[1]!], 0)).toEqual([links[2], links[3]])
  keep(orphans, 2)
  keep(orphans, 4)
  expect(orphans.following([links[1]!], 0)).toEqual([links[2]])
})
