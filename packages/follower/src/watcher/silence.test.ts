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
import { isLost } from './test/silence/tables.js'

/* The costs of a summons for each side, by the measured fees; and the shortest searches, in slots. */

const timeout = 120_000
const terms: Terms = { bond: 500_000_000n, penalty: 50_000_000n, reward: 900_000n }
let fees: Fees
let kinds: Awaited<ReturnType<typeof hiddenBlocks>>
beforeAll(async () => {
  fees = await measureFees()
  kinds = await hiddenBlocks(1)
}, timeout)

const lies = async (scene: ReturnType<typeof sceneOf>) => {
  const [[, outcomes] = ['', []]] = await outcomesOf(scene, kinds.slice(0, 1))
  return outcomes
}

test('each lie is gone in half of seven days, with a roll-back of twelve hours', { timeout }, async () => {
  const outcomes = await lies(sceneOf(publicNetwork, fees, { watchers: 2, rollBacks: [rollBacks.deepest] }))
  expect(outcomes.length).toBeGreaterThan(50)
  expect(outcomes.filter(({ end, share }) => isLost(end) || share >= 0.52)).toEqual([])
})

test.each([
  ['the default of 30 seconds has room for one round behind the patience', 30_000n, true],
  ['two minutes have room for every lie', 120_000n, false],
] as const)('on a devnet, %s', { timeout }, async (_what, window, isShort) => {
  const outcomes = await lies(sceneOf(devnet(window), fees))
  const lost = outcomes.filter(({ end }) => isLost(end))
  console.log(`${lost.length} of ${outcomes.length} lies outlast ${window} ms`)
  expect(lost.length > 0).toBe(isShort)
  expect(outcomes.filter(({ end, rounds }) => end === 'proof' && rounds === 1).length).toBeGreaterThan(10)
})

test('an operator who is down until an hour before the deadline answers 445 questions', () => {
  const { setting, period } = sceneOf(publicNetwork, fees)
  const left = (questions: number, hours = 1) =>
    unansweredAfter(setting.pace, { period, downFor: period - hours * 3600, questions })
  expect(left(445)).toBe(0)
  expect(left(446)).toBe(1)
  expect(left(1024)).toBe(579)
  expect(left(1024, 3)).toBe(0)
})

describe('by the lovelace', () => {
  test('who asks without need pays more than twice of what the operator loses', () => {
    for (const chunks of legalSizes) {
      const { griefing } = accountsOf(fees, terms, chunks)
      expect(griefing.operator).toBeGreaterThan(0n)
      for (const loss of [griefing.operator, griefing.longest])
        expect(bledBy(griefing.griefer, loss)).toBeLessThan(0.5)
    }
  })

  test('up to 169 chunks, the bond of who lies in a hidden block pays the watchers', () => {
    for (const chunks of legalSizes) {
      const { lying } = accountsOf(fees, terms, chunks)
      expect(bledBy(lying.full, lying.watchers)).toBeLessThan(2)
      if (chunks <= 169) expect(lying.watchers).toBeGreaterThan(0n)
    }
  })

  test('who is silent before ten honest blocks loses ten times what their operators lose', () => {
    const { silent, others } = silence(fees, terms, 10)
    expect(bledBy(silent, others)).toBeLessThan(0.1)
  })

  test('watchers pay who hides a valid block of half-full chunks: a limit', () => {
    const { hiding } = accountsOf(fees, terms, 1024)
    expect(hiding.half).toBeGreaterThan(0n)
    expect(bledBy(hiding.half, hiding.watchers)).toBeUndefined()
  })

  test('from a penalty of half of the bond on, an outage costs less than twice the price', () => {
    const ratioOf = (penalty: bigint) => {
      const { griefer, operator } = outageCost(fees, { ...terms, penalty })
      return bledBy(griefer, operator)
    }
    expect(ratioOf(terms.penalty)).toBeGreaterThan(2)
    expect(ratioOf(terms.bond / 2n)).toBeLessThan(2)
  })
})
