import { openStore, type Store } from '@ratatosk/store'
import {
  acceptedOf,
  chain,
  databaseUrl,
  fundsOf,
  keyOf,
  type SignedTransaction,
  signed,
  slots,
} from '@ratatosk/test-kit'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import type { ValidationWorkerOptions } from './index.js'
import { allRejections, countAccepted, isAccepted, run } from './test/running-worker.js'
import { openers } from './test/services.js'

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
