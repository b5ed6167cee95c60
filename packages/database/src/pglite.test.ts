import { channel } from 'node:diagnostics_channel'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPGlite, type PGliteLike } from './pglite.js'

test('clients that connect in every turn do not slow all queries', async () => {
  let now = 5_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const connections = channel('net.server.socket')
  let turns = 0
  let connecting = true
  // A client connects in each turn of the event loop, which takes a millisecond.
  const turn = () => {
    now++
    turns++
    connections.publish({})
    if (connecting) setImmediate(turn)
  }
  setImmediate(turn)
  onTestFinished(() => {
    connecting = false
    vi.restoreAllMocks()
  })
  const pglite: PGliteLike = {
    _runExclusiveQuery: (query) => query(),
    query: () => pglite._runExclusiveQuery!(async () => ({ rows: [], fields: [] })),
    transaction: () => Promise.reject(new Error('not in this test')),
  }
  const driver = openPGlite(pglite)
  let queries = 0
  for (const end = now + 10_000; now < end; queries++) {
    now += 11
    await driver.run('SELECT 1', [])
  }
  expect(turns, 'it waits for clients').toBeGreaterThan(queries)
  expect(turns, 'at most 200 ms in each second, beside one turn for each query').toBeLessThan(queries + 2_300)
})
