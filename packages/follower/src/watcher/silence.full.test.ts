import { beforeAll, expect, test } from 'vitest'
import { groundBlock } from './test/silence/hidden-blocks.js'
import { type Fees, measureFees } from './test/silence/money.js'
import {
  hiddenBlocks,
  isLost,
  outcomesOf,
  publicNetwork,
  rollBacks,
  sceneOf,
  timeTable,
} from './test/silence/stories.js'

/*
 * Operators who hide something and show each answer in its last second, in slots: with the search of the
 * watcher, and maps of the real trie.
 */

const timeout = 600_000
/** `RATATOSK_SILENCE_CHUNKS=1024` has every legal size of blocks. */
const most = Number(process.env.RATATOSK_SILENCE_CHUNKS ?? 169)
let fees: Fees
let kinds: Awaited<ReturnType<typeof hiddenBlocks>>
beforeAll(async () => {
  fees = await measureFees()
  kinds = await hiddenBlocks(most)
}, timeout)

test.each([
  ['without a roll-back', 1, []],
  ['with four roll-backs of ten minutes, by two watchers', 2, [rollBacks.usual]],
  ['with a roll-back of twelve hours, by three watchers', 3, [rollBacks.deepest]],
] as const)(
  'in seven days every hidden block is gone before 80 %%, %s',
  { timeout },
  async (_what, watchers, own) => {
    const found = await outcomesOf(sceneOf(publicNetwork, fees, { watchers, rollBacks: own }), kinds)
    console.log(timeTable([['slowest', found]]))
    const late = found.flatMap(([, outcomes]) =>
      outcomes.filter(({ end, share }) => share >= 0.8 || isLost(end)),
    )
    expect(late).toEqual([])
  },
)

test('a theft behind ground keys and valid blocks of 1,024 chunks is gone in time', { timeout }, async () => {
  const older = most > 169 ? 3 : 1
  const own = { watchers: 3, funds: 3_000_000_000n, older, rollBacks: [rollBacks.deepest] }
  const theft = [`behind ${older} hidden blocks`, () => [groundBlock(5)]] as const
  const found = await outcomesOf(sceneOf(publicNetwork, fees, own), [theft])
  console.log(timeTable([['slowest', found]]))
  expect(found[0]![1]).toMatchObject([{ end: 'proof' }])
  expect(found[0]![1][0]!.share).toBeLessThan(0.6)
})
