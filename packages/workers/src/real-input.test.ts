import { collect, documentFees, genesisOf, midgardMissing, midgardTransactions } from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import { describe, expect, test } from 'vitest'
import { allRejections, countAccepted, historyOf, openers, run, shuffled } from './test/running-worker.js'

const timeout = 120_000

describe.skipIf(midgardMissing !== undefined)("Midgard's signed transactions", () => {
  describe.each(testedServices(openers))('on %s', (name, open) => {
    /** The embedded queue needs milliseconds per delivery. */
    const many = name === 'PGlite' ? 250 : 1000

    test('a chain of 1,000 in order is accepted, and a chain that spends the same output is rejected', {
      timeout,
    }, async (context) => {
      const first = midgardTransactions('txs_0.json')
      const second = midgardTransactions('txs_1.json')
      const genesis = genesisOf(first)
      const { store, submit, drained, worker } = run(await open(context))
      await store.applyGenesis([genesis])

      await submit(first)
      await drained()
      const { accepted, known, postponed, rejected } = worker.stats()
      expect({ handled: accepted + known, rejected }).toEqual({ handled: 1000, rejected: 0 })
      // A job may overtake the one before it: its transactions are accepted with that one's, and known later.
      expect(postponed).toBe(known)
      expect(
        (await historyOf(store, genesis.address)).map((cbor) => Buffer.from(cbor).toString('hex')),
      ).toEqual(first.map(({ cbor }) => Buffer.from(cbor).toString('hex')))
      const [tip, ...others] = await collect(store.utxoPages(genesis.address))
      expect(others).toEqual([])
      expect(Buffer.from(tip!.reference.transactionId).toString('hex')).toBe(first.at(-1)!.id)

      const ids = await submit(second)
      await drained()
      expect(await countAccepted(store, second)).toBe(0)
      const rejections = await allRejections(store)
      expect(new Set(rejections.map(({ submissionId }) => submissionId))).toEqual(new Set(ids))
      // The input of the first is spent; the others wait for outputs that never come.
      const attempts = ids.map((id) => rejections.find(({ submissionId }) => submissionId === id)?.attempts)
      expect(attempts).toEqual(ids.map((_, index) => (index === 0 ? 1 : 5)))
      expect(new Set(rejections.map(({ code }) => code))).toEqual(new Set(['BadInputsUTxO']))
      expect(await collect(store.utxoPages(genesis.address))).toEqual([tip])
    })

    test('all are accepted in any order', { timeout }, async (context) => {
      const transactions = midgardTransactions('txs_0.json')
      const { store, submit, drained } = run(await open(context))
      await store.applyGenesis([genesisOf(transactions)])
      await submit(shuffled(transactions))
      await drained()
      expect(await countAccepted(store, transactions)).toBe(1000)
      expect(await allRejections(store)).toEqual([])
    })

    test('each is applied once when it is submitted ten times concurrently', { timeout }, async (context) => {
      const transactions = midgardTransactions('txs_0.json').slice(0, many / 5)
      const genesis = genesisOf(transactions)
      const { store, submit, drained, worker } = run(await open(context))
      await store.applyGenesis([genesis])
      await Promise.all(Array.from({ length: 10 }, () => submit(transactions)))
      await drained()
      expect(await historyOf(store, genesis.address)).toHaveLength(many / 5)
      expect(await allRejections(store)).toEqual([])
      expect(worker.stats().accepted + worker.stats().known).toBe(many * 2)
    })

    test("all are rejected at the first attempt with the specification's fee constants", {
      timeout,
    }, async (context) => {
      const transactions = midgardTransactions('txs_0.json').slice(0, many)
      const { store, submit, drained } = run(await open(context), { parameters: documentFees })
      await store.applyGenesis([genesisOf(transactions)])
      await submit(transactions)
      await drained()
      expect(await countAccepted(store, transactions)).toBe(0)
      const rejections = await allRejections(store)
      expect(rejections).toHaveLength(many)
      for (const { code, attempts, transactionId, details } of rejections) {
        expect({ code, attempts }).toEqual({ code: 'FeeTooSmallUTxO', attempts: 1 })
        expect(transactionId).toHaveLength(32)
        // The inputs of most are missing too, because nothing before them is accepted.
        expect(details).toContainEqual(expect.objectContaining({ predicate: 'FeeTooSmallUTxO' }))
      }
    })
  })

  test('three concurrent workers accept all of them in any order', {
    timeout,
  }, async (context) => {
    const transactions = midgardTransactions('txs_0.json')
    const services = await openers['PostgreSQL and Redis'](context)
    await services.store.applyGenesis([genesisOf(transactions)])
    // A machine that is busy takes longer than five attempts to come to the inputs of the last.
    const options = { batchSize: 64, concurrency: 192, maxAttempts: 20 }
    const workers = [1, 2, 3].map(() => run(services, options))
    await Promise.all(workers.map(({ worker }) => worker.ready()))
    await workers[0]!.submit(shuffled(transactions))
    await workers[0]!.drained()
    expect(await countAccepted(services.store, transactions)).toBe(1000)
    expect(await allRejections(services.store)).toEqual([])
    // Each worker took part.
    expect(workers.map(({ worker }) => worker.stats().postponed > 0)).toEqual([true, true, true])
  })
})
