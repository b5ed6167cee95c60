import { largestBond, leastPenalty, leastReserve, summonsTerms } from '@ratatosk/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { unansweredAfter } from './test/silence/layer1.js'
import {
  accountOf,
  bledBy,
  exchangeOf,
  exchangesOf,
  type Fees,
  inOutage,
  legalSizes,
  lieOf,
  measureFees,
  silence,
  type Terms,
  withFunds,
} from './test/silence/money.js'
import {
  attacksOf,
  devnet,
  hiddenBlocks,
  isLost,
  outcomesOf,
  publicNetwork,
  rollBacks,
  sceneOf,
} from './test/silence/stories.js'

/* The costs of a summons for each side, by the measured fees; and the shortest searches, in slots. */

const timeout = 120_000
/** Of a public network by default. */
const { reward, byteReward } = summonsTerms(12n)
const terms: Terms = { bond: 130_000_000n, penalty: 115_000_000n, reward, byteReward }
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

describe('by the lovelace, no side makes another lose twice what it loses', () => {
  test('in any attack, by the default terms', () => {
    const attacks = attacksOf(fees, terms)
    expect(attacks.length).toBeGreaterThan(12)
    for (const { what, attacker, victim } of attacks) expect(bledBy(attacker, victim), what).toBeLessThan(2)
  })

  test('by questions and answers of any size, and no one gains by them', () => {
    const kinds = exchangesOf(fees, terms)
    for (const [kind, exchange] of kinds) {
      const { asks, shows } = accountOf(exchange, 1)
      expect(shows, kind).toBeLessThan(0n)
      expect(bledBy(asks, shows), kind).toBeLessThan(2)
    }
    for (const chunks of legalSizes)
      for (const exchange of [kinds[0]![1], kinds[1]![1]]) {
        const { asks, shows } = accountOf(exchange, chunks)
        expect(bledBy(shows - fees.commit, asks)).toBeLessThan(2)
      }
  })

  test('the bond of who lies in a short hidden block pays its watchers', () => {
    for (const chunks of [1, 2])
      expect(lieOf(fees, terms, exchangeOf(fees, terms, 'full'), chunks).asks).toBeGreaterThan(0n)
  })

  test('who is silent before ten honest blocks loses ten times what their operators lose', () => {
    const { silent, others } = silence(fees, terms, 10)
    expect(bledBy(silent, others)).toBeLessThan(0.1)
  })

  test.each([100_000_000n, terms.bond, largestBond])(
    'who takes a bond of %i in an outage or of a poor operator, with the least penalty',
    (bond) => {
      const own = { ...terms, bond, penalty: leastPenalty(bond) }
      for (const [kind, exchange] of exchangesOf(fees, own))
        for (const { griefer, operator } of [
          inOutage(own, exchange),
          withFunds(own, exchange, leastReserve(bond, own.penalty)),
        ])
          expect(bledBy(griefer, operator), kind).toBeLessThan(2)
    },
  )
})
