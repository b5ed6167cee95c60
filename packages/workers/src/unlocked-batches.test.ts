import { fromHex } from '@ratatosk/cbor'
import { outputReferenceKey } from '@ratatosk/ledger'
import { openStore, type Store } from '@ratatosk/store'
import {
  acceptedOf,
  chain,
  databaseUrl,
  freeOfCharge,
  fundsOf,
  keyOf,
  type SignedTransaction,
  signed,
  slots,
} from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { openEvaluations, reopenDeadLetters, type ValidationWorkerOptions } from './index.js'
import {
  allRejections,
  countAccepted,
  isAccepted,
  openers,
  run,
  type Services,
} from './test/running-worker.js'

const ada = 1_000_000n
const key = keyOf(3)
const funds = fundsOf(key, 40, 10n * ada)
const references = funds.map(({ reference }) => reference)
const transfers = references.map((input) => signed(key, { inputs: [input], outputs: [4n * ada, 6n * ada] }))

describe('a full batch is validated before the ledger is locked', () => {
  const batchSize = 4
  const batch = transfers.slice(0, batchSize)

  /** Has a worker validate transactions while another process does something once. */
  async function validate(context: TestContext, { submitted, meanwhile, before = 'lock', ...options }: Race) {
    const services = await openers['PostgreSQL and Redis'](context)
    const { store } = services
    await store.applyGenesis(funds)
    const other = await openStore({ url: databaseUrl, schema: services.name })
    onTestFinished(() => other.close())
    let changed = false
    const changing = changedBefore(before, store, async () => {
      if (!changed) await meanwhile(other)
      changed = true
    })
    const { submit, drained, worker } = run(
      { ...services, store: changing },
      { batchSize, maxAttempts: 1, ...options },
    )
    await submit(submitted)
    await drained()
    expect(changed).toBe(true)
    return { store, worker }
  }

  test('and written under it', async (context) => {
    const { store, worker } = await validate(context, { submitted: batch, meanwhile: async () => {} })
    expect(worker.stats()).toMatchObject({ accepted: batchSize, rejected: 0 })
    expect(await countAccepted(store, batch)).toBe(batchSize)
  })

  test('and again, if another process has spent one of its outputs', async (context) => {
    const rival = signed(key, { inputs: [references[1]!], outputs: [10n * ada] })
    const { store, worker } = await validate(context, {
      submitted: batch,
      meanwhile: (store) => accept(store, rival),
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, rejected: 1 })
    expect(await allRejections(store)).toMatchObject([{ code: 'BadInputsUTxO' }])
  })

  test('and again, if another process has spent an output that it only reads', async (context) => {
    const reading = signed(key, {
      inputs: [references[0]!],
      referenceInputs: [references[9]!],
      outputs: [10n * ada],
    })
    const rival = signed(key, { inputs: [references[9]!], outputs: [10n * ada] })
    const { store, worker } = await validate(context, {
      submitted: [reading, ...batch.slice(1)],
      meanwhile: (store) => accept(store, rival),
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, rejected: 1 })
    expect(await isAccepted(store, reading)).toBe(false)
  })

  test('and again, if another process has accepted one of its transactions', async (context) => {
    const { worker } = await validate(context, {
      submitted: batch,
      meanwhile: (store) => accept(store, batch[2]!),
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, known: 1, rejected: 0 })
  })

  test('and again, if another process has accepted a parent of its transactions', async (context) => {
    const links = chain(key, references[0]!, 10n * ada, batchSize)
    const { worker } = await validate(context, {
      submitted: links,
      meanwhile: (store) => accept(store, links[0]!),
      before: 'known',
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, known: 1, rejected: 0 })
  })

  test('and again, if another process has accepted one that would become a dead letter', async (context) => {
    const [parent, child] = chain(key, references[0]!, 10n * ada, 2)
    const { store, worker } = await validate(context, {
      submitted: [child!, ...batch.slice(1)],
      meanwhile: async (store) => {
        await accept(store, parent!)
        await accept(store, child!)
      },
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, known: 1, rejected: 0 })
    expect(await allRejections(store)).toEqual([])
  })

  test('and again, if its slot is over', async (context) => {
    let slot = 9
    const late = signed(key, { inputs: [references[0]!], outputs: [10n * ada], invalidHereafter: 10n })
    const { store, worker } = await validate(context, {
      submitted: [late, ...batch.slice(1)],
      meanwhile: async () => {
        slot = 10
      },
      now: () => Number(slots.zeroTime) + slot * slots.slotLength,
    })
    expect(worker.stats()).toMatchObject({ accepted: batchSize - 1, rejected: 1 })
    expect(await isAccepted(store, late)).toBe(false)
  })
})

interface Race extends Pick<ValidationWorkerOptions, 'now'> {
  readonly submitted: readonly SignedTransaction[]
  /** The changes of the ledger by another process. */
  readonly meanwhile: (store: Store) => Promise<void>
  readonly before?: Step
}

function accept(store: Store, { cbor }: SignedTransaction): Promise<void> {
  return store.withLedger((ledger) => ledger.apply({ transactions: [acceptedOf(cbor)] }))
}

/** The calls of a batch to a ledger that it has not locked yet. */
type Step = 'known' | 'lock'

/** Lets something happen before a step of a batch that is validated without the lock. */
function changedBefore(step: Step, store: Store, meanwhile: () => Promise<void>): Store {
  return {
    ...store,
    withUnlockedLedger: (work) =>
      store.withUnlockedLedger((unlocked) =>
        work({
          ...unlocked,
          async known(ids) {
            if (step === 'known') await meanwhile()
            return unlocked.known(ids)
          },
          async lock() {
            if (step === 'lock') await meanwhile()
            return unlocked.lock()
          },
        }),
      ),
  }
}

describe('spent inputs', () => {
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
})
