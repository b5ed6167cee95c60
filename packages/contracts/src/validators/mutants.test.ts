import { describe, expect, it } from 'vitest'
import { engines } from '../test/evaluate.js'
import { judgeMutant, subjects } from '../test/mutants.js'

/** The rest is a matter of minutes: `node packages/contracts/scripts/mutate.mjs`. */
const inTheSuite = ['commit-token-is-header-hash', 'commit-in-turn', 'merge-mature', 'release-time']
const wanted = (rule: string) => process.env.RATATOSK_ALL_MUTANTS === '1' || inTheSuite.includes(rule)

describe.each(subjects)('the $name without a rule', (subject) => {
  it.each(subject.compile().rules.filter(wanted))(
    '%s lets pass what that rule alone refuses',
    (rule) => {
      for (const evaluate of Object.values(engines)) {
        const { caught, missed } = judgeMutant(subject, rule, evaluate)
        expect(missed).toEqual([])
        expect(caught).not.toEqual([])
      }
    },
    120_000,
  )
})
