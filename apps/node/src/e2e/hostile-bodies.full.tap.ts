import t from 'tap'
import { lengthOf } from '../../../../packages/follower/dist/test/hostile/figures.js'
import { mostHeldMore } from '../../../../packages/follower/dist/test/hostile/generated-bodies.js'
import { attackNodes } from '../test/hostile/attack.js'

// `RATATOSK_HOSTILE_BODIES=1000` for the long form; a follower alone is attacked in
// `packages/follower/src/hostile-bodies.full.test.ts`.
const pairs = Math.ceil(Number(process.env.RATATOSK_HOSTILE_BODIES ?? 12) / 2)
const seed = Number(process.env.RATATOSK_HOSTILE_SEED ?? 1)
const from = Number(process.env.RATATOSK_HOSTILE_FROM ?? 0) / 2

t.setTimeout(300_000 + pairs * 60_000)

t.test('a sequencer, an archivist and a watcher with a heap of 512 MiB survive any bodies', async (t) => {
  for (const outcome of await attackNodes(t, { from, pairs, seed })) {
    const { name, bodies, blamed, before, after, worst, long } = outcome
    const megabytes = [before.held, after.held, worst.rss].map((bytes) => Math.round(bytes / 1e6))
    const { wall, processor } = worst.turn
    t.comment({ name, bodies, blamed, wall, processor, longestWall: worst.wall, megabytes, long })
    t.ok(blamed >= pairs, `${name} blames the peer for each lie`)
    t.ok(lengthOf(worst.turn) < 250, `no turn of ${name} takes 250 ms`)
    t.ok(after.held < before.held + mostHeldMore, `${name} keeps no memory`)
  }
})
