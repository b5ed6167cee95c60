import type { Operation, OperationResult } from '@ratatosk/ports'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { redisUrl } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import { until } from '../test/agreement.js'
import { openChain, openRollup } from '../test/rollup.js'
import { openers } from '../test/services.js'

import { createOperations } from './create-operations.js'
import { type ServeOperationsOptions, serveOperations } from './serve-operations.js'

/** A sequencer that is active and does nothing else than run operations. */
const sequencerThat = (
  run: ServeOperationsOptions['sequencer']['run'],
): ServeOperationsOptions['sequencer'] => ({
  active: true,
  operatorKey: 'aa',
  subscribe: () => () => undefined,
  run,
})

/** The view of the same queue in a process without a sequencer. */
async function openElsewhere(context: TestContext, name: string): Promise<QueueBackend> {
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  context.onTestFinished(() => queue.close())
  return queue
}

test('runs an operation on the sequencer of another process and returns its result', async (context) => {
  const { store, queue, name } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer } = await openRollup(context, store, chain.layer1)
  const server = serveOperations({ queue, sequencer })
  context.onTestFinished(() => server.close())
  const operations = createOperations({ queue: await openElsewhere(context, name) })
  context.onTestFinished(() => operations.close())

  const results = await Promise.all([
    operations.run('init'),
    operations.run('reset'),
    operations.run('repair'),
  ])
  expect(results.filter(({ kind }) => kind === 'busy')).toHaveLength(2)
  await sequencer.run('init')
  expect(await operations.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })
  expect(await operations.run('commit')).toEqual({ kind: 'nothing-to-commit' })
})

test('an operation that no sequencer takes in time never runs', async (context) => {
  const { queue, name } = await openers['PostgreSQL and Redis'](context)
  const operations = createOperations({ queue: await openElsewhere(context, name), timeoutMs: 300 })
  context.onTestFinished(() => operations.close())
  expect(await operations.run('reset')).toMatchObject({ kind: 'timed-out' })

  const ran: Operation[] = []
  const sequencer = sequencerThat(async (operation) => {
    ran.push(operation)
    return { kind: 'nothing-to-merge' }
  })
  const server = serveOperations({ queue, sequencer })
  context.onTestFinished(() => server.close())
  await server.ready()
  expect(await createOperations({ queue, timeoutMs: 5000 }).run('merge')).toEqual({
    kind: 'nothing-to-merge',
  })
  expect(ran).toEqual(['merge'])
})

test('results whose events are missed do not keep a process from ending', async (context) => {
  const { queue, name } = await openers['PostgreSQL and Redis'](context)
  const sequencer = sequencerThat(async () => ({ kind: 'nothing-to-merge' }))
  const server = serveOperations({ queue, sequencer })
  context.onTestFinished(() => server.close())
  await server.ready()
  const elsewhere = await openElsewhere(context, name)
  const open = elsewhere.events.bind(elsewhere)
  elsewhere.events = (channel) => {
    const events = open(channel)
    events.on = () => events
    return events
  }
  const operations = createOperations({ queue: elsewhere })
  context.onTestFinished(() => operations.close())
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  expect(await operations.run('merge')).toEqual({ kind: 'nothing-to-merge' })
  const before = timers()
  for (let run = 0; run < 5; run++) await operations.run('merge')
  expect(timers()).toBeLessThan(before + 3)
})

test('an operation taken after its deadline answers expired and does not run', async (context) => {
  const { queue } = await openers['PostgreSQL and Redis'](context)
  const jobs = queue.queue('operations')
  const job = await jobs.add('reset', { operation: 'reset', expiresAt: Date.now() - 1 })
  const sequencer = sequencerThat(async () => ({ kind: 'reset' }))
  const server = serveOperations({ queue, sequencer })
  context.onTestFinished(() => server.close())
  await until(async () => (await job.getState()) === 'completed')
  expect((await jobs.getJob(job.id!))?.returnvalue).toEqual({ kind: 'expired' })
})

test("a standby's request about its bond does not touch the bond of the active operator", async (context) => {
  const { queue, name } = await openers['PostgreSQL and Redis'](context)
  const ran: Operation[] = []
  const run = async (operation: Operation): Promise<OperationResult> => {
    ran.push(operation)
    return { kind: 'released', operatorKey: 'aa', bond: '0' }
  }
  const server = serveOperations({ queue, sequencer: sequencerThat(run) })
  context.onTestFinished(() => server.close())
  await server.ready()
  const askedBy = async (operatorKey: string) => {
    const sequencer = { active: false, operatorKey, run }
    const operations = createOperations({ queue: await openElsewhere(context, name), sequencer })
    context.onTestFinished(() => operations.close())
    return operations
  }
  const other = await askedBy('bb')
  for (const operation of ['register', 'retire', 'release'] as const) {
    const refusal = await other.run(operation)
    expect(refusal).toMatchObject({ kind: 'refused', code: 'SEQUENCER_NOT_ACTIVE' })
    expect(refusal).toHaveProperty('message', expect.stringMatching(/operator bb; the active one has aa/))
  }
  expect(ran).toEqual([])
  await other.run('merge')
  await (await askedBy('aa')).run('retire')
  expect(ran).toEqual(['merge', 'retire'])
})

test('runs on the sequencer of the same process without the queue', async (context) => {
  const { queue } = await openers['PostgreSQL and Redis'](context)
  const run = async (): Promise<OperationResult> => ({ kind: 'repaired' })
  const operations = createOperations({
    queue,
    sequencer: { active: true, operatorKey: 'aa', run },
    timeoutMs: 100,
  })
  expect(await operations.run('repair')).toEqual({ kind: 'repaired' })
  await operations.close()
})

test('answers a running operation when its process closes', async (context) => {
  const { queue, name } = await openers['PostgreSQL and Redis'](context)
  const operations = createOperations({ queue: await openElsewhere(context, name) })
  context.onTestFinished(() => operations.close())
  let taken = (): void => undefined
  const underWay = new Promise<void>((resolve) => {
    taken = resolve
  })
  const sequencer = sequencerThat(() => {
    taken()
    return new Promise(() => undefined)
  })
  const server = serveOperations({ queue, sequencer })
  const result = operations.run('commit')
  await underWay
  await server.close()
  expect(await result).toMatchObject({ kind: 'timed-out' })
})
