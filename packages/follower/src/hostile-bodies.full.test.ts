import { expect, it } from 'vitest'
import { attack } from './test/hostile/attack.js'

// `RATATOSK_HOSTILE_BODIES=1000` for the long form.
const bodies = Number(process.env.RATATOSK_HOSTILE_BODIES ?? 12)
const seed = Number(process.env.RATATOSK_HOSTILE_SEED ?? 1)
/** Every fourth body is as large as a body may be. */
const share = (n: number) => (n % 4 === 0 ? 1 : 0.02 * (1 + (n % 5)))

it.each(['archivist', 'watcher'] as const)(
  '%s with a heap of 512 MiB survives any body',
  {
    timeout: 60_000 + bodies * 60_000,
  },
  async (role) => {
    const { ended, longestTurn, peakRss, held } = await attack({
      ...{ role, bodies, seed, share },
      log: (line) => console.log(line),
    })
    console.log({ role, ended, longestTurn, peakRss, held })
    expect([...ended.values()].reduce((sum, count) => sum + count, 0)).toBe(bodies)
    expect([...ended.keys()].filter((end) => end.startsWith('error'))).toEqual([])
    expect(Math.min(longestTurn.wall, longestTurn.processor)).toBeLessThan(250)
    // Caches of the store and of the engine.
    expect(held[1]).toBeLessThan(held[0] + 64_000_000)
  },
)
