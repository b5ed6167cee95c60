import { EventEmitter, once } from 'node:events'
import type { Operation } from '@ratatosk/ports'
import type { Store } from '@ratatosk/store'
import { inDatabase } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { operationUnderWay } from './run-operation.js'
import { expectAgreement, until } from './test/agreement.js'
import { accept, openChain, openers, openRollup, queueOf, transfers } from './test/rollup.js'

const rounds = Number(process.env.RATATOSK_LOCK_ROUNDS ?? 10)
const operations: readonly Operation[] = ['init', 'reset', 'repair', 'commit', 'merge']

test.concurrent(`runs one of five concurrent operations and refuses the others, ${rounds} times`, {
  timeout: 20_000 + rounds * 2000,
}, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1, { blockValidityMs: 45_000 })
  const sent = transfers(1)
  const won = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    if ((await queueOf(chain.layer1)).roots.length === 0) {
      expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
      await accept(store, sent)
    }
    const clear = chain.devnet.faults.inject({
      kind: 'delay',
      delayMs: 25,
      times: Infinity,
      target: 'client',
    })
    const asked = operations.map((_, index) => operations[(index + round) % operations.length]!)
    const results = await Promise.all(asked.map((operation) => sequencer.run(operation)))
    clear()
    const done = results.filter(({ kind }) => kind !== 'busy' && kind !== 'root-exists')
    expect(results.filter(({ kind }) => kind === 'busy')).toHaveLength(3)
    expect(done).toHaveLength(1)
    expect(['refused', 'layer1-failed']).not.toContain(done[0]!.kind)
    won.set(done[0]!.kind, (won.get(done[0]!.kind) ?? 0) + 1)
    expect(await operationUnderWay(store)).toBeUndefined()
  }
  // The rounds prove something only if different operations won.
  expect(won.size).toBeGreaterThan(2)
})

test.concurrent('refuses operations until the lock of a killed process expires', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1)
  await store.leases.acquire('operation', 'node-7:reset', 700)
  expect(await operationUnderWay(store)).toBe('reset')
  expect(await sequencer.run('init')).toEqual({ kind: 'busy', operation: 'reset' })
  expect(await sequencer.run('merge')).toEqual({ kind: 'busy', operation: 'reset' })
  await until(async () => (await operationUnderWay(store)) === undefined)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
})

test.concurrent('refuses a commit at once while a scheduled commit runs', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  let asked: Promise<unknown> | undefined
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    observer: {
      step(name) {
        if (name === 'roots-applied') asked ??= sequencer.run('commit')
      },
    },
  })
  await sequencer.run('init')
  const sent = transfers(2)
  await accept(store, sent)
  await until(async () => asked !== undefined)
  expect(await asked).toEqual({ kind: 'busy', operation: 'commit' })
  await until(async () => (await queueOf(chain.layer1)).blocks.length === 1)
  await until(async () => (await store.blocks.newest())?.state === 'committed')
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('runs a commit while scheduled work finds an empty mempool', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const gate = new EventEmitter()
  let looks = 0
  const gated: Store = {
    ...store,
    blocks: {
      ...store.blocks,
      async waiting(limit, ...asked) {
        if (limit === 1 && ++looks === 1) await once(gate, 'open')
        return store.blocks.waiting(limit, ...asked)
      },
    },
  }
  const { sequencer } = await openRollup(context, gated, chain.layer1, { autoCommit: true, autoInit: true })
  await until(async () => looks === 1)
  const commit = sequencer.run('commit')
  await until(async () => (await operationUnderWay(store)) === 'commit')
  gate.emit('open')
  expect(await commit).toEqual({ kind: 'nothing-to-commit' })
})

test.concurrent('keeps one of two sequencers active, the other once it closes, and back', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const first = await openRollup(context, store, chain.layer1, { autoCommit: true, holder: 'first' })
  const second = await openRollup(context, store, chain.layer1, { autoCommit: true, holder: 'second' }, false)
  await first.sequencer.run('init')
  const sent = transfers(4)
  await accept(store, sent.slice(0, 2))
  await until(async () => (await store.blocks.newest())?.state === 'committed')
  expect(second.sequencer.active).toBe(false)
  expect(await second.sequencer.run('commit')).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_NOT_ACTIVE',
  })
  await first.sequencer.close()
  expect(first.sequencer.active).toBe(false)
  await until(async () => second.sequencer.active)
  await accept(store, sent.slice(2))
  await until(async () => (await store.blocks.newest())?.height === 2n)
  await until(async () => (await store.blocks.newest())?.state === 'committed')
  await expectAgreement(store, chain.layer1, second.roots, sent)

  await Promise.all([first.sequencer.start(), first.sequencer.start()])
  await second.sequencer.close()
  await until(async () => first.sequencer.active)
})

test.concurrent('stops at once when the lease is taken, and resumes when it is free', async (context) => {
  const { store, name } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    leaseMs: 900,
  })
  await sequencer.run('init')
  const changes: boolean[] = []
  sequencer.subscribe((active) => changes.push(active))
  await inDatabase(`
    UPDATE ${name}.leases SET holder = 'thief', token = token + 1,
      expires_at = clock_timestamp() + interval '1500 milliseconds'
    WHERE name = 'sequencer'`)
  const sent = transfers(2)
  await accept(store, sent)
  await until(async () => !sequencer.active)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'SEQUENCER_NOT_ACTIVE' })
  expect(await store.blocks.newest()).toBeUndefined()
  await until(async () => (await store.blocks.newest())?.state === 'committed')
  expect(changes).toEqual([false, true])
  await expectAgreement(store, chain.layer1, roots, sent)
})
