import { setTimeout as sleep } from 'node:timers/promises'
import type { Layer1 } from '@ratatosk/layer1'
import type { Operation, OperationResult } from '@ratatosk/ports'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { redisUrl } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import { until } from '../test/agreement.js'
import { openChain, openers, openRollup } from '../test/rollup.js'
import { createOperations, type ServeOperationsOptions, serveOperations, spaceRuns } from './operations.js'

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

/** A run that ends on request. */
function heldRun() {
  const begun: ((result: OperationResult) => void)[] = []
  const run = (): Promise<OperationResult> => new Promise((resolve) => begun.push(resolve))
  return { begun, run }
}

const nothing: OperationResult = { kind: 'nothing-to-commit' }

test('calls that come too early wait for one run, which begins after they asked', async () => {
  let count = 0
  const { run } = spaceRuns(
    async () => ({ kind: 'merged', headerHash: String(++count), transactionId: '' }),
    50,
  )
  expect(await run('merge')).toMatchObject({ headerHash: '1' })
  const early = await Promise.all(Array.from({ length: 100 }, () => run('merge')))
  expect(new Set(early.map((result) => 'headerHash' in result && result.headerHash))).toEqual(new Set(['2']))
  expect(await run('commit')).toMatchObject({ headerHash: '3' })
})

test('a call during a run is answered busy, and a run that was answered busy is none', async () => {
  const { begun, run } = heldRun()
  const spaced = spaceRuns(run, 3_600_000)
  const first = spaced.run('commit')
  expect(await spaced.run('commit')).toEqual({ kind: 'busy', operation: 'commit' })
  begun[0]!({ kind: 'busy', operation: 'reset' })
  expect(await first).toEqual({ kind: 'busy', operation: 'reset' })
  void spaced.run('commit')
  expect(begun).toHaveLength(2)
})

test('calls about another block do not share a run', async () => {
  const { begun, run } = heldRun()
  const spaced = spaceRuns(run, 30)
  const first = spaced.run('remove', { headerHash: 'a' })
  begun[0]!(nothing)
  await first
  const waiting = spaced.run('remove', { headerHash: 'a' })
  expect(await spaced.run('remove', { headerHash: 'b' })).toEqual({ kind: 'busy', operation: 'remove' })
  const same = spaced.run('remove', { headerHash: 'a' })
  while (begun.length < 2) await sleep(5)
  begun[1]!(nothing)
  expect(await Promise.all([waiting, same])).toEqual([nothing, nothing])
})

test('ends waiting calls when it is closed', async () => {
  const spaced = spaceRuns(async () => nothing, 3_600_000)
  await spaced.run('commit')
  const waiting = spaced.run('commit')
  spaced.close()
  expect(await waiting).toMatchObject({ kind: 'timed-out' })
})

test('1,000 calls of an operation in a second cost layer 1 what a few do', async (context) => {
  const { store, queue } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  let calls = 0
  const layer1 = new Proxy(chain.layer1, {
    get(target, name: keyof Layer1) {
      const value = target[name]
      if (typeof value !== 'function') return value
      return (...args: never[]) => {
        calls++
        return Reflect.apply(value, target, args)
      }
    },
  })
  const { sequencer } = await openRollup(context, store, layer1, { mergeEveryMs: 3_600_000, pollMs: 200 })
  await sequencer.run('init')
  const intervalMs = 500
  const operations = createOperations({ queue, sequencer, intervalMs })
  context.onTestFinished(() => operations.close())
  const asked = ['commit', 'merge', 'init', 'repair'] as const satisfies readonly Operation[]
  await Promise.all(asked.map((operation) => operations.run(operation)))
  // Each new block of layer 1 would be read.
  await stop()
  await sleep(intervalMs)

  const counted = async (run: () => Promise<unknown>) => {
    const before = calls
    await run()
    return calls - before
  }
  for (const operation of asked) {
    const once = await counted(async () => {
      await operations.run(operation)
      // Scheduled work reads layer 1 after an operation.
      await sleep(200)
    })
    const startedAt = performance.now()
    const answers: Promise<OperationResult>[] = []
    const many = await counted(async () => {
      for (let burst = 0; burst < 20; burst++) {
        for (let call = 0; call < 50; call++) answers.push(operations.run(operation))
        await sleep(50)
      }
      await Promise.all(answers)
    })
    const runs = 1 + Math.ceil((performance.now() - startedAt) / intervalMs)
    console.log(`1,000 calls of ${operation}: ${many} reads of layer 1; one call: ${once}`)
    expect(many).toBeLessThanOrEqual((runs + 1) * once)
  }
})
