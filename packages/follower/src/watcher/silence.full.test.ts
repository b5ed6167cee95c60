import { beforeAll, describe, expect, test } from 'vitest'
import {
  accountsOf,
  bledBy,
  type Fees,
  legalSizes,
  measureFees,
  outageCost,
  silence,
  type Terms,
} from './test/silence/money.js'
import { unansweredAfter } from './test/silence/outage.js'
import {
  devnet,
  hiddenBlocks,
  outcomesOf,
  publicNetwork,
  rollBacks,
  sceneOf,
} from './test/silence/stories.js'
import { timeTable } from './test/silence/tables.js'

/*
 * Operators who hide something and show each answer in its last second, in slots: with the search of the watcher, and
 * maps of the real trie. And what each side pays, by the measured costs.
 */

const timeout = 600_000
const most = Number(process.env.RATATOSK_SILENCE_CHUNKS ?? 169)
const terms: Terms = {
  bond: 500_000_000n,
  penalty: 50_000_000n,
  reward: 900_000n,
}
let fees: Fees
let kinds: Awaited<ReturnType<typeof hiddenBlocks>>
beforeAll(async () => {
  fees = await measureFees()
  kinds = await hiddenBlocks(most)
})

/** Users have to grind 16 nibbles of keys for it. */
const isGround = (what: string): boolean => what.includes('below 12 ') || what.includes('below 16 ')

describe('in a window of seven days', () => {
  test.each([
    ['without a roll-back', 1, []],
    ['with four roll-backs of ten minutes, by two watchers', 2, [rollBacks.usual]],
    ['with a roll-back of twelve hours, by three watchers', 3, [rollBacks.deepest]],
  ] as const)('every hidden block is gone before 80 %%, %s', { timeout }, async (_what, watchers, own) => {
    const found = await outcomesOf(sceneOf(publicNetwork, fees, { watchers, rollBacks: own }), kinds)
    console.log(timeTable(found))
    const left = found.flatMap(([what, outcomes]) =>
      isGround(what)
        ? []
        : outcomes.filter(({ end, share }) => share >= 0.8 || end === 'none' || end === 'too late'),
    )
    expect(left).toEqual([])
  })

  test('keys that share 16 nibbles with another outlast it', { timeout }, async () => {
    const ground = kinds.filter(([what]) => what.includes('below 16 '))
    const found = await outcomesOf(sceneOf(publicNetwork, fees), ground)
    const ends = found.flatMap(([, outcomes]) => outcomes.map(({ end }) => end))
    expect(ends).toContain('too late')
  })

  test('an operator who is down until an hour before the deadline answers up to half a block of chunks', () => {
    const { setting, period } = sceneOf(publicNetwork, fees)
    const left = (questions: number, downFor = period - 3600) =>
      unansweredAfter(setting.pace, { period, downFor, questions })
    expect(legalSizes.map((questions) => left(questions))).toEqual([0, 0, 0, 0, 0, expect.any(Number)])
    expect(left(1024)).toBeGreaterThan(0)
    expect(left(1024, period - 2 * 3600)).toBe(0)
  })
})

test('the window of a devnet has room for one round behind the patience', { timeout }, async () => {
  const found = await outcomesOf(sceneOf(devnet, fees), kinds.slice(0, 1))
  console.log(timeTable(found))
  const ends = found[0]![1].map(({ end, rounds }) => [end, rounds] as const)
  expect(ends.filter(([end, rounds]) => rounds > 2 && end !== 'too late')).toEqual([])
  expect(ends.some(([end]) => end === 'proof')).toBe(true)
})

describe('by the lovelace', () => {
  test('who asks without need pays more than the operator loses', () => {
    for (const chunks of legalSizes) {
      const { griefing } = accountsOf(fees, terms, chunks)
      expect(griefing.operator).toBeGreaterThan(0n)
      for (const loss of [griefing.operator, griefing.longest])
        expect(bledBy(griefing.griefer, loss)).toBeLessThan(0.5)
    }
  })

  test('who lies in a hidden block loses more than half of the watchers’ loss, and up to 169 chunks pay them', () => {
    for (const chunks of legalSizes) {
      const { lying } = accountsOf(fees, terms, chunks)
      expect(bledBy(lying.operator, lying.watchers)).toBeLessThan(2)
      if (chunks <= 169) expect(lying.watchers).toBeGreaterThan(0n)
    }
  })

  test('who is silent before ten honest blocks loses ten times what their operators lose', () => {
    const { silent, others } = silence(fees, terms, 10)
    expect(bledBy(silent, others)).toBeLessThan(0.1)
  })

  test('watchers pay who hides a valid block', () => {
    const { hiding } = accountsOf(fees, terms, 1024)
    expect(bledBy(hiding.half, hiding.watchers)).toBeUndefined()
    expect(hiding.half).toBeGreaterThan(0n)
  })

  test('an outage costs the operator less than twice what it costs others, from a penalty of a quarter on', () => {
    const ratioOf = (penalty: bigint) => {
      const { griefer, operator } = outageCost(fees, { ...terms, penalty })
      return bledBy(griefer, operator)!
    }
    expect(ratioOf(terms.penalty)).toBeGreaterThan(2)
    expect(ratioOf(terms.bond / 4n)).toBeLessThan(2)
  })
})
