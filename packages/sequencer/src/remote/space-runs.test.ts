import { setTimeout as sleep } from 'node:timers/promises'
import type { Layer1 } from '@ratatosk/layer1'
import type { Operation, OperationResult } from '@ratatosk/ports'
import { expect, test } from 'vitest'
import { openChain, openRollup } from '../test/rollup.js'
import { openers } from '../test/services.js'
import { createOperations } from './create-operations.js'
import { spaceRuns } from './space-runs.js'

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
