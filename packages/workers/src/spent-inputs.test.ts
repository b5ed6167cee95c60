import { fromHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import { openStore, type Store } from '@ratatosk/store'
import { acceptedOf, databaseUrl, freeOfCharge, fundsOf, keyOf, signed, slots } from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEvaluations, reopenDeadLetters } from './index.js'
import { isAccepted, run } from './test/running-worker.js'
import { openers, type Services } from './test/services.js'

const ada = 1_000_000n
const key = keyOf(3)
const funds = fundsOf(key, 12, 10n * ada)
const references = funds.map(({ reference }) => reference)
const [first, second] = [references[0]!, references[1]!]
const winner = signed(key, { inputs: [first], outputs: [10n * ada] })
const loser = signed(key, { inputs: [first], outputs: [4n * ada, 6n * ada] })
const late = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: {} }

/** A worker that would wait a minute for an unknown input. */
async function start(services: Services) {
  const running = run(services, { backoffMs: 60_000 })
  await services.store.applyGenesis(funds)
  await running.submit([winner])
  await running.drained()
  return running
}

describe.each(testedServices(openers))('a spent input on %s', (_name, open) => {
  test('is refused at the first attempt, with the transaction that spent it', async (context) => {
    const { store, submit, drained, worker } = await start(await open(context))
    const { evaluate } = openEvaluations({ store, parameters: freeOfCharge, networkId: 0, slots })
    const evaluation = await evaluate(loser.cbor)
    expect(evaluation).toMatchObject({
      verdict: 'invalid',
      failures: [
        {
          predicate: 'BadInputsUTxO',
          message: expect.stringContaining(`was spent by transaction ${winner.id}`),
          details: { spentBy: { [outputReferenceKey(first)]: winner.id } },
        },
      ],
    })
    const [id] = await submit([loser])
    // The same transaction again does not conflict with itself.
    await submit([winner])
    await drained()
    expect(await store.rejections.find(id!)).toMatchObject({
      code: 'BadInputsUTxO',
      attempts: 1,
      details: evaluation.failures,
      spentBy: fromHex(winner.id),
    })
    expect(await evaluate(winner.cbor)).toMatchObject({ verdict: 'known' })
    expect(worker.stats()).toMatchObject({ accepted: 1, known: 1, rejected: 1, postponed: 0 })
  })

  test('is submitted again once the transaction that spent it has left the ledger', async (context) => {
    const { store, submit, drained, submissions } = await start(await open(context))
    const rival = signed(key, { inputs: [first], outputs: [5n * ada, 5n * ada] })
    const reopening = { store, submissions, holder: 'test' }
    const [id] = await submit([loser])
    await drained()
    await submit([rival])
    await drained()
    expect(await reopenDeadLetters(reopening)).toBe(0)
    const lease = await store.leases.acquire('sequencer', 'test', 600_000)
    await store.blocks.drop(new Map([[winner.id, late]]), () => undefined, lease!)
    const other = await store.leases.hold('reopen', 'another process', 600_000)
    expect(await reopenDeadLetters(reopening)).toBe(0)
    await other?.release()
    expect(await reopenDeadLetters(reopening)).toBe(2)
    await drained()
    // One of them is accepted; the other rests on it, and is not submitted over and over.
    const accepted = await Promise.all([loser, rival].map((each) => isAccepted(store, each)))
    expect(accepted.toSorted()).toEqual([false, true])
    expect(await reopenDeadLetters(reopening)).toBe(0)
    expect(await store.rejections.find(id!)).toMatchObject(
      accepted[0] ? { reopenedAt: expect.any(Date) } : { spentBy: fromHex(rival.id) },
    )
  })
})

test('rests on the spender only if nothing else is wrong for good', async (context) => {
  const { store, submit, drained } = await start(await openers['PostgreSQL and Redis'](context))
  const unsigned = { ...key, sign: () => Buffer.alloc(64) }
  const [id] = await submit([signed(unsigned, { inputs: [first], outputs: [ada] })])
  await drained()
  expect(await store.rejections.find(id!)).not.toHaveProperty('spentBy')
})

test('names at most eight of the spent inputs', async (context) => {
  const { store, submit, drained } = await start(await openers['PostgreSQL and Redis'](context))
  const taker = signed(key, { inputs: references.slice(1), outputs: [110n * ada] })
  await submit([taker])
  await drained()
  const [id] = await submit([signed(key, { inputs: references.slice(1), outputs: [ada, 109n * ada] })])
  await drained()
  const details = JSON.stringify((await store.rejections.find(id!))?.details)
  expect(details.split('#').length).toBeGreaterThan(8)
  expect(details.split(`":"${taker.id}"`)).toHaveLength(9)
})

test('a full batch is validated again if the spender leaves before the lock', async (context) => {
  const services = await openers['PostgreSQL and Redis'](context)
  const { store } = services
  await store.applyGenesis(funds)
  await store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(winner.cbor)] }))
  const lease = await store.leases.acquire('sequencer', 'test', 600_000)
  const other = await openStore({ url: databaseUrl, schema: services.name })
  onTestFinished(() => other.close())
  let dropped = false
  const racing: Store = {
    ...store,
    withUnlockedLedger: (work) =>
      store.withUnlockedLedger((unlocked) =>
        work({
          ...unlocked,
          async lock() {
            if (!dropped) await other.blocks.drop(new Map([[winner.id, late]]), () => undefined, lease!)
            dropped = true
            return unlocked.lock()
          },
        }),
      ),
  }
  const { submit, drained, worker } = run({ ...services, store: racing }, { batchSize: 2 })
  await submit([loser, signed(key, { inputs: [second], outputs: [10n * ada] })])
  await drained()
  expect(dropped).toBe(true)
  expect(worker.stats()).toMatchObject({ accepted: 2, rejected: 0 })
})
