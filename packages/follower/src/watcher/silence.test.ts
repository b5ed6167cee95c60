import { largestBond, leastPenalty, summonsTerms } from '@ratatosk/protocol'
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
/** Of a public network by default. */
const { reward } = summonsTerms(12n)
const terms: Terms = { bond: 150_000_000n, penalty: 130_000_000n, reward }
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
  /** No side may make another lose more than twice what it loses itself. */
  const isBounded = (attacker: bigint, victim: bigint): void =>
    expect(bledBy(attacker, victim)).toBeLessThan(2)

  test('who asks without need', () => {
    for (const chunks of legalSizes) {
      const { griefing } = accountsOf(fees, terms, chunks)
      for (const loss of [griefing.operator, griefing.longest]) isBounded(griefing.griefer, loss)
    }
    for (const shown of [fees.showNode, fees.showLeaf]) isBounded(-(fees.askForNode + reward), reward - shown)
  })

  test('who hides a valid block', () => {
    for (const chunks of legalSizes) {
      const { hiding } = accountsOf(fees, terms, chunks)
      for (const gain of [hiding.full, hiding.half]) isBounded(gain, hiding.watchers)
    }
  })

  test('who lies in a hidden block, whose bond pays for a short one', () => {
    for (const chunks of legalSizes) {
      const { lying } = accountsOf(fees, terms, chunks)
      for (const gain of [lying.full, lying.half]) isBounded(gain, lying.watchers)
      if (chunks <= 2) expect(lying.watchers).toBeGreaterThan(0n)
    }
  })

  test('who is silent before ten honest blocks loses ten times what their operators lose', () => {
    const { silent, others } = silence(fees, terms, 10)
    expect(bledBy(silent, others)).toBeLessThan(0.1)
  })

  test.each([100_000_000n, terms.bond, largestBond])(
    'who takes a bond of %i in an outage, with the least penalty',
    (bond) => {
      const { griefer, operator } = outageCost(fees, { bond, penalty: leastPenalty(bond), reward })
      isBounded(griefer, operator)
    },
  )
})
