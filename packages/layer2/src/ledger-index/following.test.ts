import { blake2b256, scriptHash } from '@ratatosk/ledger'
import type { DropReason } from '@ratatosk/store'
import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { IndexError } from './tables.js'
import {
  addressOf,
  credential,
  genesis,
  genesisOf,
  History,
  numbersOf,
  type TransactionDraft,
  transactionOf,
} from './test/history.js'
import { acceptAndIndex, backends, createWorld, dumpIndex, unspentOf, type World } from './test/world.js'
import type { IndexOptions, LedgerIndex } from './types.js'

const all = { offset: 0, limit: 100 }
const [alice, script] = [addressOf(50), addressOf(60, 61)]
const datum = Uint8Array.of(0x18, 0x2a)
const plutus = Uint8Array.of(0x46, 1, 0, 0, 0x22, 0x49, 0x31)

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(`following acceptance on ${backend.name}`, () => {
    let world: World
    let index: LedgerIndex
    const schema = () => `${world.schema}_index`

    beforeEach(async () => {
      world = await createWorld(backend)
      await world.store.applyGenesis(genesis)
      index = await world.index(schema())
    })

    afterEach(() => world.close())

    const accept = (draft: TransactionDraft) => acceptAndIndex(world, index, draft)
    const input = (position: number) => genesis[position]!.reference

    it('undoes what was dropped, and knows it when it comes again', async () => {
      await index.caughtUp()
      const before = await dumpIndex(world.store.database, schema())
      const draft: TransactionDraft = {
        inputs: [input(7)],
        outputs: [{ address: alice, assets: [[200, 'bb', 1]], datum }],
        mint: [[200, 'bb', 1]],
        scripts: [plutus],
        withdrawals: [60],
        redeemers: [[3, 0, datum]],
      }
      const dropped = await accept(draft)
      const reason: DropReason = { code: 'BadInputsUTxO', message: 'A test', details: {} }
      const id = Buffer.from(dropped.id).toString('hex')
      await world.store.blocks.drop(new Map([[id, reason]]), () => undefined, world.lease)
      await index.caughtUp()
      const after = await dumpIndex(world.store.database, schema())
      expect(after).toEqual(before)
      const again = await accept(draft)
      expect(again.sequence).toBeGreaterThan(dropped.sequence)
      expect(await index.datums([blake2b256(datum)])).toMatchObject([{ bytes: datum }])
    })

    it('lists assets by the first mint that is left when the first one is undone', async () => {
      const mint = (amount: number) => [[220, 'aa', amount]] as const
      const dropped = await accept({ inputs: [input(7)], outputs: [{ address: alice }], mint: mint(1) })
      const next = await accept({ inputs: [input(8)], outputs: [{ address: alice }], mint: mint(2) })
      await accept({ inputs: [input(9)], outputs: [{ address: alice }], mint: mint(4) })
      const reason: DropReason = { code: 'BadInputsUTxO', message: 'A test', details: {} }
      const id = Buffer.from(dropped.id).toString('hex')
      await world.store.blocks.drop(new Map([[id, reason]]), () => undefined, world.lease)
      await index.caughtUp()
      const policy = credential(220)
      expect(await index.assets(policy, all)).toMatchObject([{ quantity: 6n }])
      expect(await index.assets(policy, all, next)).toMatchObject([{ quantity: 2n }])
      const asset = (at = {}) => index.asset(policy, Buffer.from('aa', 'hex'), at)
      expect(await asset()).toMatchObject({ quantity: 6n, mints: 2, first: next.id })
      expect(await asset(next)).toMatchObject({ quantity: 2n, mints: 1, first: next.id, last: next.id })
    })

    it('lists scripts by the first transaction that is left when the first one is undone', async () => {
      const [other, plutusHash] = [Uint8Array.of(1, 3), plutus].map((bytes) => scriptHash('PlutusV3', bytes))
      const outputs = [{ address: alice }]
      const dropped = await accept({ inputs: [input(7)], outputs, scripts: [plutus] })
      const next = await accept({ inputs: [input(8)], outputs, scripts: [Uint8Array.of(1, 3)] })
      await accept({ inputs: [input(9)], outputs, scripts: [plutus] })
      const reason: DropReason = { code: 'BadInputsUTxO', message: 'A test', details: {} }
      const id = Buffer.from(dropped.id).toString('hex')
      await world.store.blocks.drop(new Map([[id, reason]]), () => undefined, world.lease)
      await index.caughtUp()
      expect(await index.scripts(all)).toEqual([other, plutusHash])
      expect(await index.scripts(all, next)).toEqual([other])
    })

    it('adds a large genesis in parts', async () => {
      const large = genesisOf(
        Array.from({ length: 4_001 }, (_, number) => ({
          address: addressOf(number % 7),
          ...(number % 4_000 === 0 && { assets: [[200, 'aa', 1 + number]], script: plutus }),
        })),
      )
      const empty = await createWorld(backend)
      try {
        await empty.store.applyGenesis(large)
        const { database } = empty.store
        let longest = 0
        const watched: typeof database = {
          ...database,
          transaction: (work) =>
            database.transaction((transaction) =>
              work({
                ...transaction,
                run(text, parameters) {
                  for (const each of parameters)
                    if (Array.isArray(each)) longest = Math.max(longest, each.length)
                  return transaction.run(text, parameters)
                },
              }),
            ),
        }
        const own = `${empty.schema}_index`
        const followed = await empty.index(own, { genesis: large, database: watched })
        await followed.caughtUp()
        expect(longest).toBe(2_000)
        const { index: unspent, ledger } = await unspentOf(database, own, empty.schema)
        expect(unspent).toEqual(ledger)
        const { mints = [], preimages, preimage_uses: uses } = await dumpIndex(database, own)
        expect(
          mints.map((row) => JSON.parse(row)).map(({ sequence, nth, total }) => [sequence, nth, total]),
        ).toEqual(
          expect.arrayContaining([
            [-4_001, 1, 1],
            [-1, 2, 4_002],
          ]),
        )
        expect([mints, preimages, uses].map((rows) => rows?.length)).toEqual([2, 1, 2])
      } finally {
        await empty.close()
      }
    })

    it('refuses a genesis that is not the one of the ledger', async () => {
      const other = await world.index(`${schema()}_2`, { genesis: genesis.slice(1) })
      await expect(other.caughtUp()).rejects.toMatchObject({ code: 'INDEX_GENESIS' })
    })

    it('says that it is behind rather than to wait for ever', async () => {
      let answer = (_: readonly never[]) => {}
      const silent = new Promise<readonly never[]>((resolve) => {
        answer = resolve
      })
      const source = { ...world.store.changes, accepted: () => silent }
      const stuck = await world.index(`${schema()}_3`, { source, waitMs: 20 })
      await expect(stuck.caughtUp()).rejects.toMatchObject({ code: 'INDEX_BEHIND' })
      answer([])
    })

    it('knows for how long it has not had everything', async () => {
      let isDown = true
      const accepted: IndexOptions['source']['accepted'] = (after, limit) =>
        isDown ? Promise.reject(new Error('A test')) : world.store.changes.accepted(after, limit)
      const source = { ...world.store.changes, accepted }
      const late = await world.index(`${schema()}_6`, { source, pollMs: 1 })
      await expect.poll(() => late.lagMs()).toBeGreaterThan(50)
      const before = late.lagMs()
      expect(late.lagMs()).toBeGreaterThanOrEqual(before)
      isDown = false
      await expect.poll(() => late.lagMs(), { interval: 1 }).toBeLessThan(50)
    })

    it('polls less often while nothing is accepted, and at once for a caller', async () => {
      const at: number[] = []
      const accepted: IndexOptions['source']['accepted'] = (after, limit) => {
        at.push(performance.now())
        return world.store.changes.accepted(after, limit)
      }
      const source = { ...world.store.changes, accepted }
      const resting = await world.index(`${schema()}_7`, { source, pollMs: 20 })
      await resting.caughtUp()
      await expect.poll(() => at.length).toBeGreaterThan(8)
      // A timer is never early: the last pauses are ten times as long as the first.
      const [before, last] = at.slice(-2)
      expect(last! - before!).toBeGreaterThanOrEqual(195)
      const polls = at.length
      await resting.caughtUp()
      expect(at.length).toBeGreaterThan(polls)
    })

    it('yields to busy work until a caller waits or half of the waiting time has passed', async () => {
      const polls = { asked: 0, made: 0 }
      const busy = () => {
        polls.asked++
        return true
      }
      const accepted: IndexOptions['source']['accepted'] = (after, limit) => {
        polls.made++
        return world.store.changes.accepted(after, limit)
      }
      const source = { ...world.store.changes, accepted }
      const polite = await world.index(`${schema()}_4`, { source, busy, pollMs: 1, waitMs: 3_600_000 })
      const { id } = await accept({ inputs: [input(9)], outputs: [{ address: alice }] })
      polite.wake()
      await expect.poll(() => polls.asked).toBeGreaterThan(3)
      expect(polls.made).toBe(0)
      await polite.caughtUp()
      expect(await polite.transaction(id)).toMatchObject({ id })

      const impatient = await world.index(`${schema()}_5`, { busy: () => true, pollMs: 1, waitMs: 2 })
      await expect.poll(() => impatient.transaction(id)).toMatchObject({ id })
    })

    it('rebuilds itself when the ledger contradicts it', async () => {
      await accept({ inputs: [input(8)], outputs: [{ address: alice }] })
      await world.store.database.run(`DELETE FROM "${schema()}".outputs WHERE address = $1`, [alice])
      const spend = transactionOf({
        inputs: [(await collect(world.store.utxoPages(alice)))[0]!.reference],
        outputs: [{ address: script }],
      })
      await world.store.withLedger((ledger) => ledger.apply({ transactions: [spend] }))
      await expect(index.caughtUp()).rejects.toMatchObject({ code: 'INDEX_DIVERGED' })
      const errors: unknown[] = []
      const mended = await world.index(schema(), { pollMs: 10, onError: (error) => errors.push(error) })
      await expect.poll(() => mended.outputs({ address: script }, all)).toHaveLength(1)
      expect(errors).toContainEqual(expect.any(IndexError))
      const { index: indexed, ledger } = await unspentOf(world.store.database, schema(), world.schema)
      expect(indexed).toEqual(ledger)
    })

    it('built live equals built anew, over a random history', async () => {
      await world.store.blocks.reset(world.lease)
      const random = numbersOf(backend.name === 'PGlite' ? 1 : 2)
      const history = new History(world.store, world.lease, random)
      await history.begin()
      // Two processes follow with the same tables.
      const other = await world.index(schema(), { batchSize: 7 })
      const { happened } = history
      const everyKind = () =>
        Math.min(happened.blocks, happened.removed, happened.undone, happened.dropped) > 0
      while (happened.accepted < 60 || !everyKind()) {
        await history.step(6)
        if (random() < 0.3) index.wake()
        if (random() < 0.3) await other.caughtUp()
      }
      await index.caughtUp()
      const live = await dumpIndex(world.store.database, schema())
      const { index: indexed, ledger } = await unspentOf(world.store.database, schema(), world.schema)
      expect(indexed).toEqual(ledger)

      const anew = await world.index(`${schema()}_anew`, { batchSize: 64 })
      await anew.caughtUp()
      expect(await dumpIndex(world.store.database, `${schema()}_anew`)).toEqual(live)
      await index.rebuild()
      await index.caughtUp()
      expect(await dumpIndex(world.store.database, schema())).toEqual(live)
    })
  })
}
