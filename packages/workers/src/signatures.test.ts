import { documentFees, fundsOf, keyOf, outputsOf, signed } from '@ratatosk/test-kit'
import { expect, test, vi } from 'vitest'
import { allRejections, countAccepted, isAccepted, openers, run, shuffled } from './test/running-worker.js'

/** Counts what libsodium verifies, from before the ledger takes the function until the end of this file. */
const verifications = vi.hoisted(() => {
  const { createRequire } = process.getBuiltinModule('node:module')
  const ledger = createRequire(import.meta.url).resolve('@ratatosk/ledger/package.json')
  const sodium = createRequire(ledger)('sodium-native')
  const verify = sodium.crypto_sign_verify_detached
  const counter = { count: 0 }
  sodium.crypto_sign_verify_detached = (...values: unknown[]) => {
    counter.count++
    return verify(...values)
  }
  return counter
})

const ada = 1_000_000n
const key = keyOf(3)
const forger = { ...keyOf(200), sign: () => Buffer.alloc(64) }
const funds = fundsOf(key, 8, 10n * ada)
const references = funds.map(({ reference }) => reference)
const keys = Array.from({ length: 31 }, (_, n) => keyOf(n + 10))

/** A transfer with this many signatures, one of them the necessary one. */
function withSignatures(count: number, input = references[0]!, lovelace = 10n * ada, fee = 0n) {
  return signed(key, { inputs: [input], outputs: [lovelace], fee, cosigners: keys.slice(0, count - 1) })
}

const unknown = references.map((reference) => ({ ...reference, index: 9 }))

test.for([
  [1, 1],
  [3, 3],
  [4, 0],
  [32, 0],
] as const)(
  '%i signatures with unknown inputs: %i verifications in five attempts',
  async ([signatures, expected], context) => {
    const { store, submit, drained } = run(await openers['PostgreSQL and Redis'](context), { backoffMs: 10 })
    const before = verifications.count
    await submit([withSignatures(signatures, unknown[0])])
    await drained()
    expect(await allRejections(store)).toMatchObject([{ code: 'BadInputsUTxO', attempts: 5 }])
    expect(verifications.count - before).toBe(expected)
  },
)

test('two workers verify no signature of transactions whose inputs stay unknown', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  const [first, second] = [1, 2].map(() => run(services, { backoffMs: 20, concurrency: 4 }))
  await second!.worker.ready()
  const before = verifications.count
  await first!.submit(unknown.map((input) => withSignatures(32, input)))
  await first!.drained()
  const rejections = await allRejections(services.store)
  expect(rejections).toHaveLength(unknown.length)
  for (const rejection of rejections) expect(rejection).toMatchObject({ code: 'BadInputsUTxO', attempts: 5 })
  expect(verifications.count - before).toBe(0)
})

test('two workers verify each signature of transactions with known inputs once', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  await services.store.applyGenesis(funds)
  const [first] = [1, 2].map(() => run(services, { concurrency: 4 }))
  const before = verifications.count
  const transactions = references.map((input) => withSignatures(32, input))
  await first!.submit(transactions)
  await first!.drained()
  expect(await countAccepted(services.store, transactions)).toBe(references.length)
  expect(verifications.count - before).toBe(references.length * 32)
})

test('copies at both workers are accepted before their next delivery', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  await services.store.applyGenesis(funds)
  const workers = [1, 2].map(() => run(services, { backoffMs: 60_000 }))
  await Promise.all(workers.map(({ worker }) => worker.ready()))
  const { submit } = workers[0]!
  const parent = withSignatures(1)
  const children = [withSignatures(32, outputsOf(parent))]
  for (let n = 0; n < 3; n++) children.push(withSignatures(2, outputsOf(children.at(-1)!)))
  const before = verifications.count
  for (const child of children.toReversed()) await submit([child])
  await expect
    .poll(() => workers.reduce((sum, { worker }) => sum + worker.stats().postponed, 0))
    .toBe(children.length)
  // The workers of the deliveries have verified the transactions with two signatures.
  expect(verifications.count - before).toBe(6)
  await submit([parent])
  await expect.poll(() => countAccepted(services.store, children)).toBe(children.length)
  // Parent and child, and again those with two signatures of which the accepting worker had a copy only.
  expect(verifications.count - before).toBeLessThanOrEqual(6 + 1 + 32 + 6)
})

test('two workers accept a chain of transactions with many signatures in any order', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  await services.store.applyGenesis(funds)
  const workers = [1, 2].map(() => run(services, { batchSize: 8, concurrency: 24 }))
  await Promise.all(workers.map(({ worker }) => worker.ready()))
  const links = [withSignatures(4)]
  while (links.length < 40) links.push(withSignatures(4 + (links.length % 7), outputsOf(links.at(-1)!)))
  await workers[0]!.submit(shuffled(links))
  await workers[0]!.drained()
  expect(await countAccepted(services.store, links)).toBe(40)
  expect(await allRejections(services.store)).toEqual([])
})

test('a transaction with many signatures and those that follow it need one attempt', async (context) => {
  const { store, submit, drained, worker } = run(await openers['PostgreSQL and Redis'](context), {
    maxAttempts: 1,
    batchQuietMs: 50,
  })
  await store.applyGenesis(funds)
  const links = [withSignatures(4)]
  links.push(withSignatures(1, outputsOf(links[0]!)))
  links.push(withSignatures(32, outputsOf(links[1]!)))
  links.push(withSignatures(10, outputsOf(links[2]!)))
  await submit(links)
  await drained()
  expect(await countAccepted(store, links)).toBe(4)
  expect(worker.stats()).toMatchObject({ accepted: 4, rejected: 0, postponed: 0, waitingForScripts: 0 })
})

test('rejects an invalid signature among many at the first attempt, and remembers it', async (context) => {
  const { store, submit, drained, worker } = run(await openers['PostgreSQL and Redis'](context))
  await store.applyGenesis(funds)
  const forged = signed(key, {
    inputs: [references[0]!],
    outputs: [10n * ada],
    cosigners: [...keys.slice(0, 9), forger],
  })
  const before = verifications.count
  const [id] = await submit([forged])
  await drained()
  expect(await allRejections(store)).toMatchObject([
    {
      submissionId: id,
      attempts: 1,
      code: 'InvalidWitnessesUTXOW',
      details: [{ details: { publicKeys: [Buffer.from(forger.publicKey).toString('hex')] } }],
    },
  ])
  await submit([forged])
  await drained()
  expect(worker.stats()).toMatchObject({ rejected: 2 })
  expect(verifications.count - before).toBe(11)
})

test('verifies no signature of a transaction that breaks a cheaper rule', async (context) => {
  const { store, submit, drained } = run(await openers['PostgreSQL and Redis'](context), {
    parameters: documentFees,
  })
  await store.applyGenesis(funds)
  const before = verifications.count
  await submit([withSignatures(32), withSignatures(32, references[1], 10n * ada, ada)])
  await drained()
  const codes = (await allRejections(store)).map(({ code }) => code)
  expect(codes.toSorted()).toEqual(['FeeTooSmallUTxO', 'ValueNotConservedUTxO'])
  expect(verifications.count - before).toBe(0)
})

test('forged transactions with many signatures do not block a payment', async (context) => {
  const { store, submit, drained, worker } = run(await openers['PostgreSQL and Redis'](context), {
    maxAttempts: 1,
  })
  await store.applyGenesis(funds)
  const forged = Array.from({ length: 20 }, (_, n) =>
    signed(
      { ...key, sign: () => Buffer.alloc(64) },
      {
        inputs: [references[0]!],
        outputs: [5n * ada - BigInt(n), 5n * ada + BigInt(n)],
        cosigners: keys,
      },
    ),
  )
  const payment = withSignatures(1)
  await submit([...forged, payment])
  await drained()
  expect(await isAccepted(store, payment)).toBe(true)
  expect(worker.stats()).toMatchObject({ accepted: 1, rejected: 20 })
})
