import { toHex } from '@ratatosk/cbor'
import { afterAll, expect, test } from 'vitest'
import { ofLie } from './test/lies.js'
import { evaluator, openWatched, openWatcher, until } from './test/scene.js'

afterAll(() => evaluator.close())

test('of two processes with one wallet and store, the second waits', { timeout: 120_000 }, async () => {
  const watched = await openWatched()
  const { store, story, queued, commit } = watched
  const lease = { leases: store.leases, ttlMs: 60_000 }
  const block = await commit(ofLie('inputSpentElsewhere', story))
  const first = openWatcher(watched, [], { lease })
  await until('the first has its turn', async () => (await store.leases.current('watcher')) !== undefined)

  const second = openWatcher(watched, [block], { lease })
  const waits = expect.stringMatching(/^Another process of this store watches: .+\/\d+\/[0-9a-f]{6}$/)
  await until('the second waits', () => second.watcher.status().waits !== undefined)
  expect(second.watcher.status()).toEqual({ waits })
  const asked = await second.watcher.summon({ headerHash: block.headerHash, chunk: 0 })
  expect(asked).toEqual({ kind: 'refused', reason: waits })
  expect(await queued()).toEqual([toHex(block.headerHash)])
  expect((await store.verdicts.list({ limit: 1 })).verdicts).toEqual([])

  await first.close()
  await until('the second removes the block', async () => (await queued()).length === 0)
  expect(second.watcher.status().waits).toBeUndefined()
  expect([...first.errors, ...second.errors]).toEqual([])
})
