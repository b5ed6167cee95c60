import { describe, expect, it } from 'vitest'
import { type RuleRow, ruleRows } from '../../../../fraud/dist/test/rules.js'
import { toldLies } from '../../test/fraud/told-lies.js'

const told = await toldLies()
const claimsOf = (row: RuleRow | undefined) => (row && 'claims' in row ? row.claims : [])
const rows = Object.entries(ruleRows).flatMap(([rule, row]) =>
  claimsOf(row).map((claim) => ({ rule, claim })),
)

describe('the table of rules', () => {
  it.each(rows)('$claim proves a lie of the tests about $rule', ({ rule, claim }) => {
    expect(told.filter((lie) => lie.claim === claim && lie.rules.includes(rule))).not.toEqual([])
  })

  it.each(told)('has a row for what proves $what', ({ claim, rules }) => {
    const known = rules as readonly (keyof typeof ruleRows)[]
    const proving = known.filter((rule) => claimsOf(ruleRows[rule]).includes(claim))
    expect(proving, `${claim} for ${rules}`).not.toEqual([])
  })

  it('has every claim', () => {
    const claims = new Set(told.map(({ claim }) => claim))
    expect(new Set(rows.map(({ claim }) => claim))).toEqual(claims)
  })
})
