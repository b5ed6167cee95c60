import t from 'tap'
import { expectEventsOnce } from '../test/adopted-events.js'

t.setTimeout(1_800_000)

t.test('each acceptance is told once beside a mempool of 10,000 and a block in each slot', (t) =>
  expectEventsOnce(t, { waiting: 10_000, blocks: 60, slotMs: 1_000 }),
)
