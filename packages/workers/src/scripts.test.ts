import { forecastHorizon, timeToSlot } from '@ratatosk/ledger'
import { chain, collect, freeOfCharge, fundsOf, keyOf, outputsOf, slots } from '@ratatosk/test-kit'
import { expect, type TestContext, test } from 'vitest'
import type { ValidationWorkerOptions } from './index.js'
import { minting, withCostModel } from './test/minting.js'
import {
  allRejections,
  countAccepted,
  isAccepted,
  openers,
  run,
  type Services,
} from './test/running-worker.js'

const ada = 1_000_000n
const key = keyOf(7)
const funds = fundsOf(key, 24, 10n * ada)
const [first, second, collateral] = funds.map(({ reference }) => reference)
const parameters = withCostModel(freeOfCharge)

type Evaluator = NonNullable<ValidationWorkerOptions['evaluator']>
type Result = Awaited<ReturnType<Evaluator['evaluate']>>

const success: Result = { ok: true, redeemers: [] }
const failure: Result = {
  ok: false,
  redeemers: [],
  failure: { kind: 'ScriptFailure', message: 'the script failed', logs: ['not today'] },
}

/** An evaluator whose results the test provides when it wants. */
function heldEvaluator() {
  const asked: ((result: Result) => void)[] = []
  const ids: string[] = []
  const evaluator: Evaluator = {
    evaluate: ({ id }) =>
      new Promise((resolve) => {
        ids.push(Buffer.from(id).toString('hex'))
        asked.push(resolve)
      }),
  }
  return { evaluator, asked, ids }
}

async function start(
  context: TestContext,
  options: Partial<ValidationWorkerOptions>,
  opener: keyof typeof openers = 'PGlite',
) {
  const services: Services = await openers[opener](context)
  await services.store.applyGenesis(funds)
  return run(services, { parameters, scriptConcurrency: 4, ...options })
}

const mint = minting(
  key,
  { input: first!, lovelace: 10n * ada, tokens: 0, collateral: collateral! },
  parameters,
)
const mintMore = minting(
  key,
  { input: outputsOf(mint), lovelace: 9n * ada, tokens: 1, collateral: collateral! },
  parameters,
)

test('accepts others while scripts run; a chain of scripts uses up no attempt', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { store, submit, drained, worker } = await start(context, { evaluator })
  const others = chain(key, second!, 10n * ada, 2)
  await submit([mint])
  await expect.poll(() => asked.length).toBe(1)
  await submit([mintMore, ...others])
  await expect.poll(() => asked.length).toBe(2)
  await expect.poll(() => worker.stats().accepted).toBe(2)
  asked[1]!(success)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await countAccepted(store, [mint, mintMore])).toBe(0)
  asked[0]!(success)
  await drained()
  expect(await countAccepted(store, [mint, mintMore, ...others])).toBe(4)
  expect(worker.stats()).toMatchObject({ accepted: 4, postponed: 0, rejected: 0 })
})

test('a failing script makes a dead letter with its trace; dependent ones are retried', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { store, submit, drained } = await start(context, { evaluator, maxAttempts: 2, backoffMs: 20 })
  const [id] = await submit([mint])
  await expect.poll(() => asked.length).toBe(1)
  const [orphan] = await submit([mintMore])
  await expect.poll(() => asked.length).toBe(2)
  asked[1]!(success)
  asked[0]!(failure)
  await drained()
  const rejections = await allRejections(store)
  expect(rejections.find(({ submissionId }) => submissionId === id)).toMatchObject({
    code: 'ValidationTagMismatch',
    attempts: 1,
    details: [{ details: { failures: [{ message: 'the script failed', logs: ['not today'] }] } }],
  })
  expect(rejections.find(({ submissionId }) => submissionId === orphan)).toBeDefined()
  expect((await collect(store.utxoPages(key.address))).length).toBe(funds.length)
})

test('retries scripts that cannot be run, without rejecting the transaction', async (context) => {
  const { store, submit, drained, worker } = await start(context, { maxAttempts: 3, backoffMs: 20 })
  await submit([mint])
  await drained()
  expect(await allRejections(store)).toMatchObject([{ code: 'ScriptsNotJudged', attempts: 3 }])
  expect(worker.stats().postponed).toBe(2)
})

test('runs the scripts of the same transaction once in a batch', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { submit, drained, worker } = await start(context, { evaluator, batchQuietMs: 100, batchWaitMs: 100 })
  await submit([mint, mint])
  await expect.poll(() => asked.length).toBe(1)
  asked[0]!(success)
  await drained()
  expect(asked).toHaveLength(1)
  expect(worker.stats()).toMatchObject({ accepted: 1, known: 1, postponed: 0 })
})

test('closing does not wait for scripts; the next worker gets the transaction', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { store, queue, name, submit, worker } = await start(context, { evaluator })
  await submit([mint])
  await expect.poll(() => asked.length).toBe(1)
  await worker.close()
  expect(worker.stats()).toMatchObject({ released: 1 })
  const next = run({ store, queue, name }, { parameters, evaluator: { evaluate: async () => success } })
  await next.drained()
  expect(await isAccepted(store, mint)).toBe(true)
})

/** Transactions with scripts, each on an output of its own, or all on the first. */
function bombs(count: number, on: 'one output' | 'many outputs', steps = 1000) {
  const inputs = funds.slice(4).map(({ reference }) => reference)
  return Array.from({ length: count }, (_, n) =>
    minting(
      key,
      {
        input: inputs[on === 'one output' ? 0 : n % inputs.length]!,
        lovelace: 10n * ada,
        tokens: 0,
        collateral: collateral!,
        fee: ada + BigInt(n),
        steps,
      },
      parameters,
    ),
  )
}

test.for(['one output', 'many outputs'] as const)(
  'payments are accepted while more scripts on %s run than the worker may handle deliveries',
  async (on, context) => {
    const { evaluator, asked } = heldEvaluator()
    const started = await start(context, { evaluator, concurrency: 4, batchSize: 2, scriptConcurrency: 2 })
    const { store, submit, drained, worker } = started
    const waiting = bombs(16, on)
    await submit(waiting)
    const running = on === 'one output' ? 1 : 2
    await expect.poll(() => asked.length).toBe(running)
    const payments = chain(key, second!, 10n * ada, 6)
    await submit(payments)
    await expect.poll(() => worker.stats().accepted).toBe(6)
    expect(asked).toHaveLength(running)
    expect(worker.stats()).toMatchObject({ postponed: 0, rejected: 0, deferred: 0 })
    for (let n = 0; n < waiting.length; n++) {
      await expect.poll(() => asked.length).toBeGreaterThan(n)
      asked[n]!(failure)
    }
    await drained()
    expect(worker.stats()).toMatchObject({ accepted: 6, postponed: 0, rejected: 16 })
    expect(await countAccepted(store, payments)).toBe(6)
  },
)

test('validates the next transaction that spends an output when the first fails', async (context) => {
  const { evaluator, asked, ids } = heldEvaluator()
  const { store, submit, drained, worker } = await start(context, { evaluator })
  const [first, dear] = bombs(2, 'one output', 9000)
  const cheap = bombs(3, 'one output', 10)[2]!
  await submit([first!])
  await expect.poll(() => asked.length).toBe(1)
  await submit([dear!, cheap])
  await expect.poll(() => worker.stats().waitingForScripts).toBe(3)
  asked[0]!(failure)
  await expect.poll(() => ids).toEqual([first!.id, cheap.id])
  asked[1]!(success)
  await drained()
  expect(asked).toHaveLength(2)
  expect(await isAccepted(store, cheap)).toBe(true)
  expect(worker.stats()).toMatchObject({ accepted: 1, rejected: 2 })
})

test('the scripts with the fewest declared units run first', async (context) => {
  const { evaluator, asked, ids } = heldEvaluator()
  const { submit, drained, worker } = await start(context, { evaluator, scriptConcurrency: 1 })
  const [running, dear] = bombs(2, 'many outputs', 9000)
  const cheap = bombs(3, 'many outputs', 10)[2]!
  await submit([running!])
  await expect.poll(() => asked.length).toBe(1)
  await submit([dear!])
  await submit([cheap])
  await expect.poll(() => worker.stats().waitingForScripts).toBe(3)
  asked[0]!(success)
  await expect.poll(() => asked.length).toBe(2)
  asked[1]!(success)
  await expect.poll(() => asked.length).toBe(3)
  asked[2]!(success)
  await drained()
  expect(ids).toEqual([running!.id, cheap.id, dear!.id])
})

test('defers the most expensive scripts beyond the bound, without using up an attempt', async (context) => {
  const { evaluator, asked, ids } = heldEvaluator()
  const { store, submit, drained, worker } = await start(context, {
    evaluator,
    maxAttempts: 1,
    concurrency: 4,
    scriptConcurrency: 1,
    maxWaitingForScripts: 3,
  })
  const dear = bombs(6, 'many outputs', 9000)
  const cheap = bombs(7, 'many outputs', 10)[6]!
  await submit(dear)
  await expect.poll(() => worker.stats().deferred).toBeGreaterThanOrEqual(3)
  await submit([cheap])
  const payments = chain(key, second!, 10n * ada, 4)
  await submit(payments)
  await expect.poll(() => worker.stats().accepted).toBe(4)
  asked[0]!(success)
  await expect.poll(() => asked.length).toBe(2)
  expect(ids[1]).toBe(cheap.id)
  for (let n = 1; n < 7; n++) {
    await expect.poll(() => asked.length).toBeGreaterThan(n)
    asked[n]!(success)
  }
  await drained()
  expect(await countAccepted(store, [...dear, cheap, ...payments])).toBe(11)
  expect(worker.stats()).toMatchObject({ accepted: 11, postponed: 0, rejected: 0 })
})

test('scripts that failed do not run again for the same transaction', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { submit, drained, worker } = await start(context, { evaluator })
  await submit([mint])
  await expect.poll(() => asked.length).toBe(1)
  asked[0]!(failure)
  await drained()
  await submit([mint])
  await drained()
  expect(asked).toHaveLength(1)
  expect(worker.stats()).toMatchObject({ rejected: 2 })
})

const flood = Number(process.env.RATATOSK_SCRIPT_BOMBS ?? 40)

test(`a payment beside ${flood} scripts of 900 ms each`, { timeout: 120_000 }, async (context) => {
  const evaluator: Evaluator = {
    evaluate: () => new Promise((resolve) => setTimeout(resolve, 900, failure)),
  }
  const { submit, worker } = await start(context, {
    evaluator,
    concurrency: 12,
    batchSize: 4,
    scriptConcurrency: 1,
  })
  await submit(bombs(flood / 2, 'one output'))
  await submit(bombs(flood, 'many outputs').slice(flood / 2))
  const times: number[] = []
  for (const payment of chain(key, second!, 10n * ada, 5)) {
    const began = performance.now()
    const before = worker.stats().accepted
    await submit([payment])
    await expect.poll(() => worker.stats().accepted, { interval: 5 }).toBe(before + 1)
    times.push(Math.round(performance.now() - began))
  }
  console.log(`payments beside ${flood} scripts: ${times.join(', ')} ms`)
  expect(worker.stats().rejected).toBeLessThan(flood)
})

test('rejects at once what scripts would see beyond the horizon of layer 1', async (context) => {
  const now = Number(slots.zeroTime) + 5000
  const { store, submit, drained, worker } = await start(
    context,
    {
      now: () => now,
      evaluator: { evaluate: async () => success },
    },
    'PostgreSQL and Redis',
  )
  const end = forecastHorizon(timeToSlot(slots, BigInt(now)))
  const ending = (invalidHereafter: bigint) =>
    minting(
      key,
      { input: first!, lovelace: 10n * ada, tokens: 0, collateral: collateral!, invalidHereafter },
      parameters,
    )
  const [allowed, late] = [ending(end), ending(end + 1n)]
  await submit([late])
  await drained()
  expect(await allRejections(store)).toMatchObject([{ code: 'OutsideForecast' }])
  expect(worker.stats()).toMatchObject({ postponed: 0, rejected: 1 })
  await submit([allowed])
  await drained()
  expect(await isAccepted(store, allowed)).toBe(true)
})
