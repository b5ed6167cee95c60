import t from 'tap'
import { openBridgeStory } from '../test/bridge-story.js'

const seconds = Number(process.env.RATATOSK_BRIDGE_SECONDS ?? 60)
const seed = Number(process.env.RATATOSK_BRIDGE_SEED ?? 1)

t.setTimeout(seconds * 1000 + 600_000)

t.test(`random deposits, payments, withdrawals, kills and roll-backs add up (seed ${seed})`, async (t) => {
  const story = await openBridgeStory(t, seed)
  const end = performance.now() + seconds * 1000
  for (let step = 1; performance.now() < end; step++) {
    const told = await story.step()
    const since = performance.now()
    const sums = await story.check().catch((error: unknown) => {
      t.comment(`${step}. ${told}; it does not add up`)
      throw error
    })
    const { height, treasury, waiting, paid, toppedUp, payments, withdrawals } = sums
    const checked = Math.round(performance.now() - since)
    t.comment(
      `${step}. ${told}; block ${height}, treasury ${treasury}, of which wait ${waiting}, ` +
        `paid ${paid} (${payments} of ${withdrawals}), topped up ${toppedUp}; equal after ${checked} ms`,
    )
  }
  const { deposits, payments } = await story.rest()
  t.comment(
    `${deposits} deposits are credited, ${payments} withdrawals paid: ${JSON.stringify(story.counts)}`,
  )
})
