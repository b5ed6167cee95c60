import t from 'tap'
import { expectEventsOnce } from '../test/adopted-events.js'

t.setTimeout(600_000)

t.test('each acceptance is told once, whatever adoption renumbers', (t) =>
  expectEventsOnce(t, { waiting: 200, blocks: 5, slotMs: 100 }),
)
