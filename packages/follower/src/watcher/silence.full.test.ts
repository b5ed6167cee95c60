import { beforeAll, expect, test } from 'vitest'
import { type Fees, measureFees } from './test/silence/money.js'
import { hiddenBlocks, outcomesOf, publicNetwork, rollBacks, sceneOf } from './test/silence/stories.js'
import { isLost, timeTable } from './test/silence/tables.js'

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
