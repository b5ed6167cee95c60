import { randomBytes } from 'node:crypto'
import { timeToSlot } from '@ratatosk/ledger'
import { type Block, type Ledger, openStore, type Store } from '@ratatosk/store'
import {
  breakableProxy,
  chain,
  collect,
  databaseUrl,
  freeOfCharge,
  fundsOf,
  keyOf,
  signed,
  slots,
} from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEvaluations, replayDeadLetter } from './index.js'
import {
  allRejections,
  countAccepted,
  isAccepted,
  openers,
  run,
  transactionsIn,
} from './test/running-worker.js'

const ada = 1_000_000n
const key = keyOf(3)
const funds = fundsOf(key, 40, 10n * ada)
const references = funds.map(({ reference }) => reference)
const transfers = references.map((input) => signed(key, { inputs: [input], outputs: [4n * ada, 6n * ada] }))

describe.each(testedServices(openers))('validation on %s', (_name, open) => {
  test('a submission that does not decode becomes a dead letter with all details', async (context) => {
    const { store, submit, drained } = run(await open(context))
    const before = new Date()
    const [id] = await submit([{ cbor: Buffer.from('83010203', 'hex') }])
    await drained()
    const [rejection, ...others] = await allRejections(store)
    expect(others).toEqual([])
    expect(rejection).toMatchObject({
      submissionId: id,
      attempts: 1,
      code: 'DecodingFailure',
      message: expect.stringContaining('Not a Conway transaction'),
      details: [
        { predicate: 'DecodingFailure', details: { code: expect.any(String), offset: expect.any(Number) } },
      ],
    })
    expect(rejection?.transactionId).toBeUndefined()
    const { cbor } = (await store.rejections.find(id!))!
    expect(Buffer.from(cbor!).toString('hex')).toBe('83010203')
    expect(rejection!.submittedAt.getTime()).toBeGreaterThanOrEqual(before.getTime() - 1)
  })

  test('invalid submissions do not affect valid ones', async (context) => {
    const { store, submit, drained, worker } = run(await open(context))
    await store.applyGenesis(funds)
    const garbage = Array.from({ length: 20 }, (_, n) => ({ cbor: randomBytes(1 + n) }))
    const overdrawn = references.map((input) => signed(key, { inputs: [input], outputs: [11n * ada] }))
    await submit(transfers.flatMap((transfer, n) => [overdrawn[n]!, transfer, ...garbage.slice(n, n + 1)]))
    await drained()
    expect(await countAccepted(store, transfers)).toBe(40)
    expect(await countAccepted(store, overdrawn)).toBe(0)
    expect(worker.stats()).toMatchObject({ accepted: 40, rejected: 60 })
    const codes = (await allRejections(store)).map(({ code }) => code)
    // In a later batch than the valid transfer of the same output, the output is spent.
    const overdrawnCodes = ['ValueNotConservedUTxO', 'BadInputsUTxO']
    expect(codes.filter((code) => overdrawnCodes.includes(code))).toHaveLength(40)
    expect(codes.filter((code) => code === 'DecodingFailure')).toHaveLength(20)
  })

  test('a transaction that is in the ledger has no second effect', async (context) => {
    const { store, submit, drained, worker } = run(await open(context))
    await store.applyGenesis(funds)
    await submit(transfers)
    await drained()
    const utxos = await collect(store.utxoPages(key.address))
    await submit(transfers)
    await drained()
    expect(await collect(store.utxoPages(key.address))).toEqual(utxos)
    expect(worker.stats()).toMatchObject({ accepted: 40, known: 40, rejected: 0 })
  })

  test('a transaction may arrive with a copy of its parent, which is in the ledger', async (context) => {
    const { store, submit, drained, worker } = run(await open(context), { maxAttempts: 1 })
    await store.applyGenesis(funds)
    const [parent, child] = chain(key, references[0]!, 10n * ada, 2)
    await submit([parent!])
    await drained()
    await submit([parent!, child!])
    await drained()
    expect(worker.stats()).toMatchObject({ accepted: 2, known: 1, rejected: 0 })
  })

  test('waits for an unknown input, and makes a dead letter after the last attempt', async (context) => {
    const { store, submit, drained, worker } = run(await open(context), { maxAttempts: 4, backoffMs: 150 })
    await store.applyGenesis(funds)
    const [parent, child] = chain(key, references[0]!, 10n * ada, 2)
    await submit([child!])
    await expect.poll(() => worker.stats().postponed).toBeGreaterThan(0)
    await submit([parent!])
    const [lost] = await submit([signed(key, { inputs: [{ ...references[1]!, index: 9 }], outputs: [ada] })])
    await drained()
    expect(await countAccepted(store, [parent!, child!])).toBe(2)
    expect(await allRejections(store)).toMatchObject([
      { submissionId: lost, attempts: 4, code: 'BadInputsUTxO' },
    ])
  })

  test('waits until a validity interval begins', async (context) => {
    let slot = 9
    const now = () => Number(slots.zeroTime) + slot * slots.slotLength
    const { store, submit, drained, worker } = run(await open(context), {
      now,
      backoffMs: 100,
      maxAttempts: 10,
    })
    await store.applyGenesis(funds)
    const early = signed(key, { inputs: [references[0]!], outputs: [10n * ada], invalidBefore: 10n })
    await submit([early])
    await expect.poll(() => worker.stats().postponed).toBeGreaterThan(0)
    slot = 10
    await drained()
    expect(await isAccepted(store, early)).toBe(true)
  })

  test('judges a transaction as of the end of the newest block', async (context) => {
    const services = await open(context)
    const end = slots.zeroTime + 100n * BigInt(slots.slotLength)
    const blocks = { newest: async () => ({ endTime: end }) as Block }
    const { store, submit, drained, worker } = run(services, {
      store: { ...services.store, blocks },
      now: () => Number(slots.zeroTime),
    })
    await store.applyGenesis(funds)
    const begins = signed(key, { inputs: [references[0]!], outputs: [10n * ada], invalidBefore: 100n })
    const ended = signed(key, { inputs: [references[1]!], outputs: [10n * ada], invalidHereafter: 100n })
    const [, id] = await submit([begins, ended])
    await drained()
    expect(await isAccepted(store, begins)).toBe(true)
    expect(worker.stats().postponed).toBe(0)
    expect(await store.rejections.find(id!)).toMatchObject({ code: 'OutsideValidityIntervalUTxO' })
  })

  test('refuses at once a validity interval that begins after the last attempt', async (context) => {
    const tries = { backoffMs: 100, maxAttempts: 10 }
    const { store, submit, drained } = run(await open(context), tries)
    await store.applyGenesis(funds)
    const invalidBefore = timeToSlot(slots, BigInt(Date.now())) + 300n
    const late = signed(key, { inputs: [references[0]!], outputs: [10n * ada], invalidBefore })
    const [id] = await submit([late])
    await drained()
    expect(await store.rejections.find(id!)).toMatchObject({
      attempts: 1,
      code: 'OutsideValidityIntervalUTxO',
    })
    const verdictWith = async (maxAttempts: number) => {
      const options = { store, parameters: freeOfCharge, networkId: 0, slots, ...tries, maxAttempts }
      return (await openEvaluations(options).evaluate(late.cbor)).verdict
    }
    expect(await verdictWith(10)).toBe('invalid')
    expect(await verdictWith(20)).toBe('retriable')
  })

  test('validates a replayed dead letter again and notes its replay', async (context) => {
    const services = await open(context)
    const { store, submit, drained, submissions } = run(services, { maxAttempts: 1 })
    await store.applyGenesis(funds)
    const [parent, child] = chain(key, references[0]!, 10n * ada, 2)
    const [id] = await submit([child!])
    await drained()
    expect(await store.rejections.find(id!)).toBeDefined()
    await submit([parent!])
    await drained()
    const again = await replayDeadLetter(id!, { store, submissions })
    expect(again).not.toBe(id)
    await drained()
    expect(await isAccepted(store, child!)).toBe(true)
    expect(await store.rejections.find(id!)).toMatchObject({ count: 1, replayed: { submissionId: again } })
    await store.rejections.remove(id!)
    expect(await replayDeadLetter(id!, { store, submissions })).toBeUndefined()
  })

  test('a transaction that the node fails to validate becomes a dead letter, alone', async (context) => {
    const services = await open(context)
    const poison = transfers[17]!
    const errors: object[] = []
    const { store, submit, drained, worker } = run(
      { ...services, store: failingOn(services.store, poison.id) },
      {
        maxAttempts: 2,
        backoffMs: 20,
        log: { info() {}, warn() {}, error: (fields) => errors.push(fields) },
      },
    )
    await services.store.applyGenesis(funds)
    const ids = await submit(transfers)
    await drained()
    expect(await countAccepted(store, transfers)).toBe(39)
    expect(await allRejections(store)).toMatchObject([
      {
        submissionId: ids[17],
        attempts: 2,
        code: 'ValidationFailed',
        message: expect.not.stringContaining('defect'),
      },
    ])
    expect(errors).toMatchObject([
      { submission: ids[17], err: { message: 'a defect' } },
      { submission: ids[17] },
    ])
    expect(worker.stats()).toMatchObject({ accepted: 39, rejected: 1 })
  })

  test('closing finishes the running batch and leaves the rest to the next worker', async (context) => {
    const services = await open(context)
    await services.store.applyGenesis(funds)
    const first = run(services, { batchSize: 4, concurrency: 8 })
    await first.submit(transfers)
    await expect.poll(() => first.worker.stats().accepted).toBeGreaterThan(0)
    await first.worker.close()
    await first.worker.close()
    expect(await first.submissions.jobs.getActiveCount()).toBe(0)
    const second = run(services)
    await second.drained()
    expect(await countAccepted(services.store, transfers)).toBe(40)
    expect(first.worker.stats().accepted + second.worker.stats().accepted).toBe(40)
    expect(second.worker.stats().known).toBe(0)
  })
})

test('an unavailable store costs neither transactions nor attempts', async (context) => {
  const { store, queue, name } = await openers['PostgreSQL and Redis'](context)
  await store.applyGenesis(funds)
  const proxy = await breakableProxy(databaseUrl)
  onTestFinished(() => proxy.close())
  const behindProxy = await openStore({ url: proxy.url, schema: name })
  onTestFinished(() => behindProxy.close())
  const messages: string[] = []
  const { submit, drained, worker } = run(
    { store: behindProxy, queue, name },
    {
      maxAttempts: 1,
      log: {
        info: (_, message) => messages.push(message),
        warn: (_, message) => messages.push(message),
        error() {},
      },
    },
  )
  await submit(transfers.slice(0, 5))
  await drained()
  await proxy.break()
  await submit(transfers.slice(5))
  await expect.poll(() => messages).toContain('Store unavailable; validation waits for it')
  await new Promise((resolve) => setTimeout(resolve, 300))
  await proxy.mend()
  await drained()
  expect(await countAccepted(store, transfers)).toBe(40)
  expect(await allRejections(store)).toEqual([])
  expect(worker.stats()).toMatchObject({ accepted: 40, rejected: 0, postponed: 0 })
  expect(messages).toContain('Store available again')
})

test('closing during a store outage returns the transactions to the queue', async (context) => {
  const { store, queue, name } = await openers['PostgreSQL and Redis'](context)
  await store.applyGenesis(funds)
  const closed = await openStore({ url: databaseUrl, schema: name })
  await closed.close()
  const { submit, worker, submissions } = run({ store: closed, queue, name })
  await submit(transfers)
  await expect.poll(() => transactionsIn(submissions, 'active')).toBe(40)
  await worker.close()
  expect(worker.stats()).toMatchObject({ accepted: 0, rejected: 0, postponed: 0 })
  expect(await transactionsIn(submissions, 'active')).toBe(0)
  expect(await transactionsIn(submissions, 'waiting')).toBe(40)
  const next = run({ store, queue, name })
  await next.drained()
  expect(next.worker.stats()).toMatchObject({ accepted: 40 })
})

test('several workers share a queue and a store', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  await services.store.applyGenesis(funds)
  const workers = [1, 2, 3].map(() => run(services, { batchSize: 8, concurrency: 16 }))
  const links = references.slice(0, 10).flatMap((input) => chain(key, input, 10n * ada, 20))
  await workers[0]!.submit(links)
  await workers[0]!.drained()
  expect(await countAccepted(services.store, links)).toBe(200)
  expect(await collect(services.store.historyPages(key.address, { limit: 1000, offset: 0 }))).toHaveLength(
    200,
  )
})

/** A store that fails to write one transaction, as a defect of the node would. */
function failingOn(store: Store, id: string): Store {
  return {
    ...store,
    withLedger: (work) =>
      store.withLedger((ledger) => {
        const failing: Ledger = {
          ...ledger,
          async apply(batch) {
            if (batch.transactions.some((each) => Buffer.from(each.id).toString('hex') === id)) {
              throw new Error('a defect')
            }
            return ledger.apply(batch)
          },
        }
        return work(failing)
      }),
  }
}
