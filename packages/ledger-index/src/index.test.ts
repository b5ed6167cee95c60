import { blake2b256, scriptHash } from '@ratatosk/ledger'
import type { AcceptedTransaction, DropReason } from '@ratatosk/store'
import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IndexError } from './errors.js'
import { dumpIndex, unspentOf } from './test/dump.js'
import { genesis, History, numbersOf } from './test/history.js'
import { addressOf, credential, type TransactionDraft, transactionOf } from './test/transactions.js'
import { backends, createWorld, type World } from './test/world.js'
import type { IndexedOutput, IndexOptions, LedgerIndex, OutputQuery } from './types.js'

const all = { offset: 0, limit: 100 }
const unspent = { spent: false } as const
/** The script of a dApp locks what alice pays; its address has a stake credential. */
const [alice, script] = [addressOf(50), addressOf(60, 61)]
const policy = credential(200)
const name = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const datum = Uint8Array.of(0x18, 0x2a)
const plutus = Uint8Array.of(0x46, 1, 0, 0, 0x22, 0x49, 0x31)

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(`an index on ${backend.name}`, () => {
    let world: World
    let index: LedgerIndex
    const schema = () => `${world.schema}_index`

    beforeAll(async () => {
      await (await createWorld(backend)).close()
    }, 120_000)

    beforeEach(async () => {
      world = await createWorld(backend)
      await world.store.applyGenesis(genesis)
      index = await world.index(schema())
    })

    afterEach(() => world.close())

    async function accept(draft: TransactionDraft): Promise<AcceptedTransaction & { sequence: bigint }> {
      const transaction = transactionOf(draft)
      await world.store.withLedger((ledger) => ledger.apply({ transactions: [transaction] }))
      await index.caughtUp()
      const found = await index.transaction(transaction.id)
      if (found === undefined) throw new Error('The index does not have what was accepted')
      return { ...transaction, sequence: found.sequence }
    }

    const input = (position: number) => genesis[position]!.reference
    const out = (transaction: AcceptedTransaction, position = 0) => transaction.produced[position]!.reference
    const find = async (query: OutputQuery, sequence?: bigint) =>
      (await index.outputs(query, all, sequence === undefined ? {} : { sequence })).map(nameOf)
    const nameOf = ({ transactionId, index: at }: Pick<IndexedOutput, 'transactionId' | 'index'>) =>
      `${Buffer.from(transactionId).toString('hex').slice(0, 8)}#${at}`
    const names = (...references: readonly { transactionId: Uint8Array; index: number }[]) =>
      references.map(nameOf)

    it('finds outputs by script address, credentials, policy, asset, transaction and reference', async () => {
      const locked = await accept({
        inputs: [input(0)],
        outputs: [
          { address: script, assets: [[200, '', 1]], datum },
          {
            address: alice,
            assets: [
              [200, 'aa', 2],
              [201, 'aa', 2],
            ],
          },
          { address: alice },
        ],
      })
      await index.caughtUp()
      const one = names(out(locked, 0))
      expect(await find({ address: script, ...unspent })).toEqual(one)
      expect(await find({ paymentCredential: credential(60), ...unspent })).toEqual(one)
      expect(await find({ stakeCredential: credential(61), ...unspent })).toEqual(one)
      expect(await find({ policy, assetName: name(''), transaction: locked.id })).toEqual(one)
      expect(await find({ policy, transaction: locked.id })).toEqual(names(out(locked, 0), out(locked, 1)))
      expect(await find({ policy: credential(201), address: alice })).toEqual(names(out(locked, 1)))
      expect(await find({ transaction: locked.id })).toEqual(
        names(...locked.produced.map((each) => each.reference)),
      )
      expect(await find({ references: [out(locked, 2), { transactionId: locked.id, index: 9 }] })).toEqual(
        names(out(locked, 2)),
      )
      const [found] = await index.outputs({ address: script }, all)
      expect(found).toEqual({
        transactionId: locked.id,
        index: 0,
        sequence: locked.sequence,
        output: locked.produced[0]!.output,
        collateralReturn: false,
      })
    })

    it('shows the ledger as it was after any transaction', async () => {
      const first = await accept({
        inputs: [input(0)],
        outputs: [{ address: alice, assets: [[200, 'aa', 1]] }],
      })
      const second = await accept({
        inputs: [out(first)],
        outputs: [{ address: alice, assets: [[200, 'aa', 1]] }],
      })
      const asset = { policy, assetName: name('aa') }
      for (const query of [{ address: alice }, { ...asset, address: alice }]) {
        expect(await find({ ...query, ...unspent })).toEqual(names(out(second)))
        expect(await find({ ...query, ...unspent }, first.sequence)).toEqual(names(out(first)))
        expect(await find({ ...query, ...unspent }, 0n)).toEqual([])
        expect(await find({ ...query, spent: true })).toEqual(names(out(first)))
        expect(await find({ ...query, spent: true }, first.sequence)).toEqual([])
        expect(await find(query)).toEqual(names(out(first), out(second)))
        expect(await find(query, first.sequence)).toEqual(names(out(first)))
      }
      const [spent] = await index.outputs({ references: [out(first)] }, all)
      expect(spent!.spent).toEqual({ sequence: second.sequence, id: second.id, valid: true })
      const [then] = await index.outputs({ references: [out(first)] }, all, { sequence: first.sequence })
      expect(then).not.toHaveProperty('spent')
      expect(await find(unspent, 0n)).toEqual(names(...genesis.map(({ reference }) => reference)))
    })

    it('reads parts of a list in both orders', async () => {
      const paid = await accept({
        inputs: [input(1)],
        outputs: Array.from({ length: 5 }, () => ({ address: alice })),
      })
      const part = async (offset: number, limit: number, order: 'oldest-first' | 'newest-first') =>
        (await index.outputs({ address: alice, ...unspent }, { offset, limit, order })).map(
          (each) => each.index,
        )
      expect(await part(1, 2, 'oldest-first')).toEqual([1, 2])
      expect(await part(1, 2, 'newest-first')).toEqual([3, 2])
      expect(await part(3, Number.POSITIVE_INFINITY, 'oldest-first')).toEqual([3, 4])
      expect(await part(9, 2, 'oldest-first')).toEqual([])
      expect(paid.produced).toHaveLength(5)
    })

    it('reads pages of one state, which later transactions do not change', async () => {
      const paid = await accept({
        inputs: [input(1)],
        outputs: Array.from({ length: 5 }, () => ({ address: alice })),
      })
      const pages = async (order: 'oldest-first' | 'newest-first', between?: () => Promise<unknown>) => {
        const read: number[][] = []
        for (let after: IndexedOutput | undefined; ; ) {
          const part = { offset: 0, limit: 2, order, ...(after && { after }) }
          const page = await index.outputs({ address: alice, ...unspent }, part, paid)
          if (page.length === 0) return read
          read.push(page.map((each) => each.index))
          after = page.at(-1)
          await between?.()
          between = undefined
        }
      }
      expect(await pages('oldest-first')).toEqual([[0, 1], [2, 3], [4]])
      expect(await pages('newest-first')).toEqual([[4, 3], [2, 1], [0]])
      const spend = () => accept({ inputs: [out(paid, 0), out(paid, 3)], outputs: [{ address: alice }] })
      expect(await pages('oldest-first', spend)).toEqual([[0, 1], [2, 3], [4]])
    })

    it('lists the transactions of an address once, by age', async () => {
      const first = await accept({ inputs: [input(2)], outputs: [{ address: alice }, { address: alice }] })
      const second = await accept({
        inputs: [out(first, 0), out(first, 1)],
        outputs: [{ address: alice }, { address: script }],
      })
      const third = await accept({ inputs: [out(second)], outputs: [{ address: script }] })
      const ids = async (part = all as Parameters<LedgerIndex['history']>[1], at = {}) =>
        (await index.history(alice, part, at)).map(({ id }) => id)
      expect(await ids()).toEqual([first.id, second.id, third.id])
      expect(await ids({ offset: 1, limit: 1, order: 'newest-first' })).toEqual([second.id])
      expect(await ids(all, { sequence: first.sequence })).toEqual([first.id])
      expect(await index.knowsAddress(alice)).toBe(true)
      expect(await index.knowsAddress(alice, { sequence: 0n })).toBe(false)
      expect(await index.knowsAddress(addressOf(99))).toBe(false)
    })

    it('knows what was minted, burnt and left of each asset', async () => {
      const minted = await accept({
        inputs: [input(3)],
        outputs: [{ address: alice, assets: [[210, 'bb', 7]] }],
        mint: [
          [210, 'bb', 7],
          [210, '', 1],
        ],
      })
      const burnt = await accept({
        inputs: [out(minted)],
        outputs: [{ address: alice }],
        mint: [[210, 'bb', -7]],
      })
      const assets = (at = {}) => index.assets(credential(210), all, at)
      expect(await assets()).toEqual([
        { name: name(''), quantity: 1n },
        { name: name('bb'), quantity: 0n },
      ])
      expect(await assets({ sequence: minted.sequence })).toEqual([
        { name: name(''), quantity: 1n },
        { name: name('bb'), quantity: 7n },
      ])
      const bb = (at = {}) => index.asset(credential(210), name('bb'), at)
      expect(await bb()).toEqual({ quantity: 0n, mints: 2, first: minted.id, last: burnt.id })
      expect(await bb({ sequence: minted.sequence })).toEqual({
        quantity: 7n,
        mints: 1,
        first: minted.id,
        last: minted.id,
      })
      expect(await index.asset(credential(210), name('cc'))).toBeUndefined()
      const ofGenesis = genesis.filter((_, position) => position % 5 === 0)
      expect(await index.asset(policy, name('aa'), { sequence: 0n })).toEqual({
        quantity: 40n,
        mints: ofGenesis.length,
        first: ofGenesis[0]!.reference.transactionId,
        last: ofGenesis.at(-1)!.reference.transactionId,
      })
      // Of the genesis: eight outputs with five each.
      expect(await index.assets(policy, all, { sequence: 0n })).toEqual([{ name: name('aa'), quantity: 40n }])
    })

    it('finds datums and scripts of witnesses and outputs by their hash', async () => {
      const inline = Uint8Array.of(0x18, 0x63)
      await accept({
        inputs: [input(4)],
        outputs: [{ address: script, datum: inline, script: plutus }],
        datums: [datum],
        scripts: [Uint8Array.of(1, 2)],
      })
      expect(await index.datum(blake2b256(datum))).toEqual(datum)
      expect(await index.datum(blake2b256(inline))).toEqual(inline)
      expect(await index.datum(new Uint8Array(32))).toBeUndefined()
      for (const bytes of [plutus, Uint8Array.of(1, 2)]) {
        const hash = scriptHash('PlutusV3', bytes)
        expect(await index.script(hash)).toEqual({ language: 'PlutusV3', hash, bytes })
      }
      expect(await index.script(new Uint8Array(28))).toBeUndefined()
    })

    it('shows the collateral of a transaction whose scripts failed', async () => {
      const failed = await accept({
        inputs: [input(5)],
        outputs: [{ address: alice }],
        mint: [[211, 'aa', 1]],
        collateral: { input: input(6), back: { address: alice } },
      })
      const [back] = await index.outputs({ address: alice }, all)
      expect(back).toMatchObject({ index: 1, transactionId: failed.id, collateralReturn: true })
      const [collateral] = await index.outputs({ references: [input(6)] }, all)
      expect(collateral!.spent).toEqual({ sequence: failed.sequence, id: failed.id, valid: false })
      expect(await find({ references: [input(5)], ...unspent })).toEqual(names(input(5)))
      expect(await index.assets(credential(211), all)).toEqual([])
    })

    it('undoes what was dropped, and knows it when it comes again', async () => {
      await index.caughtUp()
      const before = await dumpIndex(world.store.database, schema())
      const draft: TransactionDraft = {
        inputs: [input(7)],
        outputs: [{ address: alice, assets: [[200, 'bb', 1]], datum }],
        mint: [[200, 'bb', 1]],
        scripts: [plutus],
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
      expect(await index.datum(blake2b256(datum))).toEqual(datum)
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

    it('lets what is busy go first, until somebody waits for the index or half of that time has passed', async () => {
      const looks = { asked: 0, made: 0 }
      const busy = () => {
        looks.asked++
        return true
      }
      const accepted: IndexOptions['source']['accepted'] = (after, limit) => {
        looks.made++
        return world.store.changes.accepted(after, limit)
      }
      const source = { ...world.store.changes, accepted }
      const polite = await world.index(`${schema()}_4`, { source, busy, pollMs: 1, waitMs: 3_600_000 })
      const { id } = await accept({ inputs: [input(9)], outputs: [{ address: alice }] })
      polite.wake()
      await expect.poll(() => looks.asked).toBeGreaterThan(3)
      expect(looks.made).toBe(0)
      await polite.caughtUp()
      expect(await polite.transaction(id)).toMatchObject({ id })

      const impatient = await world.index(`${schema()}_5`, { busy: () => true, pollMs: 1, waitMs: 2 })
      await expect.poll(() => impatient.transaction(id), { timeout: 5000 }).toMatchObject({ id })
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
      await expect.poll(() => mended.outputs({ address: script }, all), { timeout: 5000 }).toHaveLength(1)
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
