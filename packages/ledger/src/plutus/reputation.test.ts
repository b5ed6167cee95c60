import { expect, test } from 'vitest'
import { createReputation, runsToTrust } from './reputation.js'

function known(): ReturnType<typeof createReputation> {
  const reputation = createReputation()
  for (let i = 0; i < runsToTrust; i++) reputation.ended(['a', 'b'])
  return reputation
}

test('trusts scripts that have all ended often enough', () => {
  const reputation = createReputation()
  for (let i = 0; i < runsToTrust; i++) {
    expect(reputation.trusts(['a'])).toBe(false)
    reputation.ended(['a'])
  }
  expect(reputation.trusts(['a'])).toBe(true)
  expect(reputation.trusts(['a', 'b'])).toBe(false)
})

test('has trust earned anew once it was failed, by that script alone', () => {
  const reputation = known()
  reputation.failedTrust('a')
  expect(reputation.trusts(['a'])).toBe(false)
  expect(reputation.trusts(['b'])).toBe(true)
  for (let i = 0; i < runsToTrust; i++) reputation.ended(['a'])
  expect(reputation.trusts(['a', 'b'])).toBe(true)
})

test('forgets who has not been seen for longest', () => {
  const reputation = known()
  for (let i = 0; i < 19_999; i++) {
    reputation.ended([`other ${i}`])
    if (i % 1_000 === 0) reputation.ended(['b'])
  }
  expect(reputation.trusts(['a'])).toBe(false)
  expect(reputation.trusts(['b'])).toBe(true)
})
