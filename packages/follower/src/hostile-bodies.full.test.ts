import { expect, it } from 'vitest'
import { attack } from './test/hostile/attack.js'
import { lengthOf } from './test/hostile/figures.js'
import { mostHeldMore, shareOf } from './test/hostile/generated-bodies.js'

// `RATATOSK_HOSTILE_BODIES=1000` for the long form. Whole nodes are attacked in
// `apps/node/src/e2e/hostile-bodies.full.tap.ts`.
const bodies = Number(process.env.RATATOSK_HOSTILE_BODIES ?? 12)
const seed = Number(process.env.RATATOSK_HOSTILE_SEED ?? 1)
const from = Number(process.env.RATATOSK_HOSTILE_FROM ?? 0)

it.each([
  ['a follower', false],
  ['a follower that searches frauds', true],
] as const)(
  '%s with a heap of 512 MiB survives any body',
  { timeout: 60_000 + bodies * 60_000 },
  async (name, searches) => {
    const { ended, longestTurn, peakRss, held } = await attack({
      ...{ searches, bodies, from, seed, share: shareOf },
      log: (line) => console.log(line),
    })
    console.log({ name, ended, longestTurn, peakRss, held })
    expect([...ended.values()].reduce((sum, count) => sum + count, 0)).toBe(bodies)
    expect([...ended.keys()].filter((end) => end.startsWith('error'))).toEqual([])
    expect(lengthOf(longestTurn)).toBeLessThan(250)
    expect(held[1]).toBeLessThan(held[0] + mostHeldMore)
  },
)
