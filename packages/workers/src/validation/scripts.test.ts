import { expect, type TestContext, test } from 'vitest'
import type { ValidationWorkerOptions } from '../index.js'
import { minting, withCostModel } from '../test/minting.js'
import { freeOfCharge } from '../test/parameters.js'
import { allRejections, countAccepted, isAccepted, run } from '../test/running-worker.js'
import { openers, type Services } from '../test/services.js'
import { chain, fundsOf, keyOf, outputsOf } from '../test/transfers.js'

const ada = 1_000_000n
const key = keyOf(7)
const funds = fundsOf(key, 4, 10n * ada)
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

/** An evaluator whose answers the test gives, so that it decides when they come. */
function heldEvaluator() {
  const asked: ((result: Result) => void)[] = []
  const evaluator: Evaluator = { evaluate: () => new Promise((resolve) => asked.push(resolve)) }
  return { evaluator, asked }
}

async function start(context: TestContext, options: Partial<ValidationWorkerOptions>) {
  const services: Services = await openers.PGlite(context)
  await services.store.applyGenesis(funds)
  return run(services, { parameters, ...options })
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

test('while scripts run others are accepted, and a chain of scripts waits without an attempt', async (context) => {
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

test('a script that fails makes a dead letter with its trace, and what depends on it is tried again', async (context) => {
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
  expect((await store.utxosAt(key.address)).length).toBe(4)
})

test('scripts that cannot be run are tried again, and say nothing of the transaction', async (context) => {
  const { store, submit, drained, worker } = await start(context, { maxAttempts: 3, backoffMs: 20 })
  await submit([mint])
  await drained()
  expect(await allRejections(store)).toMatchObject([{ code: 'ScriptsNotJudged', attempts: 3 }])
  expect(worker.stats().postponed).toBe(2)
})

test('the same transaction twice runs its scripts once in a batch', async (context) => {
  const { evaluator, asked } = heldEvaluator()
  const { submit, drained, worker } = await start(context, { evaluator, batchWaitMs: 100 })
  await submit([mint, mint])
  await expect.poll(() => asked.length).toBe(1)
  asked[0]!(success)
  await drained()
  expect(asked).toHaveLength(1)
  expect(worker.stats()).toMatchObject({ accepted: 1, known: 1, postponed: 0 })
})

test('closing does not wait for scripts: the transaction goes to the next worker', async (context) => {
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
