import { describe, expect, it } from 'vitest'
import { type Claim, provableRules } from '../../test/fraud/provable-rules.js'
import { toldLies } from '../../test/fraud/told-lies.js'

const told = await toldLies()
const rows = Object.entries(provableRules).flatMap(([rule, provability]) =>
  typeof provability === 'string' ? [] : provability.map((claim) => ({ rule, claim })),
)

describe('the table of rules', () => {
  it.each(rows)('$claim proves a lie of the tests about $rule', ({ rule, claim }) => {
    expect(told.filter((lie) => lie.claim === claim && lie.rules.includes(rule))).not.toEqual([])
  })

  it.each(told)('has a row for what proves $what', ({ claim, rules }) => {
    const known = rules as readonly (keyof typeof provableRules)[]
    const proving = known.filter((rule) => (provableRules[rule] as readonly Claim[]).includes(claim))
    expect(proving, `${claim} for ${rules}`).not.toEqual([])
  })

  it('has every claim', () => {
    const claims = new Set(told.map(({ claim }) => claim))
    expect(new Set(rows.map(({ claim }) => claim))).toEqual(claims)
  })
})
