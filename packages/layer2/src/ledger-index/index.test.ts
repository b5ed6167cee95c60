import { blake2b256, byReference, type OutputReference, scriptHash } from '@ratatosk/ledger'
import type { AppliedTransaction } from '@ratatosk/store'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addressOf, credential, genesis, type TransactionDraft, transactionOf } from './test/history.js'
import { acceptAndIndex, backends, createWorld, type World } from './test/world.js'
import type { HistoryQuery, IndexedOutput, IndexPart, LedgerIndex, OutputQuery } from './types.js'

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

    const accept = (draft: TransactionDraft) => acceptAndIndex(world, index, draft)

    const input = (position: number) => genesis[position]!.reference
    const out = (transaction: AppliedTransaction, position = 0) => transaction.produced[position]!.reference
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
      const ids = async (part: IndexPart = all, at = {}) =>
        (await index.history({ address: alice }, part, at)).map(({ id }) => id)
      expect(await ids()).toEqual([first.id, second.id, third.id])
      expect(await ids({ offset: 1, limit: 1, order: 'newest-first' })).toEqual([second.id])
      expect(await ids(all, { sequence: first.sequence })).toEqual([first.id])
      expect(await index.knowsAddress(alice)).toBe(true)
      expect(await index.knowsAddress(alice, { sequence: 0n })).toBe(false)
      expect(await index.knowsAddress(addressOf(99))).toBe(false)
    })

    it('lists the transactions of a credential, and those of an asset, since a ledger', async () => {
      const first = await accept({
        inputs: [input(2)],
        outputs: [{ address: script, assets: [[200, 'bb', 1]] }],
      })
      const second = await accept({ inputs: [out(first)], outputs: [{ address: alice }] })
      const third = await accept({
        inputs: [out(second)],
        outputs: [{ address: script, assets: [[200, 'bb', 1]] }],
      })
      const ids = async (query: HistoryQuery, at = {}, since = {}) =>
        (await index.history(query, all, at, since)).map(({ id }) => id)
      const paymentCredential = credential(60)
      const held = { policy, assetName: name('bb') }
      expect(await ids({ paymentCredential })).toEqual([first.id, second.id, third.id])
      expect(await ids(held)).toEqual([first.id, third.id])
      const { sequence } = first
      expect(await ids({ paymentCredential }, {}, { sequence })).toEqual([second.id, third.id])
      expect(await ids({ paymentCredential }, second, { sequence })).toEqual([second.id])
      expect(await ids(held, {}, { sequence })).toEqual([third.id])
      const [waiting, credited] = [[sequence], [third.sequence]]
      expect(await ids({ paymentCredential }, {}, { sequence, waiting, credited })).toEqual([
        first.id,
        second.id,
      ])
    })

    it('finds outputs by their reference script', async () => {
      const referenceScript = scriptHash('PlutusV3', plutus)
      const paid = await accept({
        inputs: [input(2)],
        outputs: [
          { address: alice },
          { address: alice, script: plutus },
          { address: script, script: plutus },
        ],
      })
      await accept({ inputs: [out(paid, 1)], outputs: [{ address: alice }] })
      expect(await find({ referenceScript, ...unspent })).toEqual(names(out(paid, 2)))
      expect(await find({ referenceScript })).toEqual(names(out(paid, 1), out(paid, 2)))
      expect(await find({ referenceScript, ...unspent }, paid.sequence)).toEqual(
        names(out(paid, 1), out(paid, 2)),
      )
    })

    it('sums up what transactions pay', async () => {
      const pay = (position: number, fee: number) =>
        accept({ inputs: [input(position)], outputs: [{ address: alice }, { address: alice }], fee })
      const [first, second, third] = [await pay(2, 5), await pay(3, 6), await pay(4, 7)]
      const sums = (transactions: number, fees: bigint) => ({
        transactions,
        output: BigInt(transactions) * 4_000_000n,
        fees,
      })
      expect(await index.totals()).toEqual(sums(3, 18n))
      expect(await index.totals(first.sequence)).toEqual(sums(2, 13n))
      expect(await index.totals(first.sequence, second.sequence)).toEqual(sums(1, 6n))
      expect(await index.totals(third.sequence)).toEqual(sums(0, 0n))
      // As if they were thousands of transactions apart.
      const apart = (table: string) => world.store.database.run(`UPDATE "${schema()}".${table}`, [])
      await apart(`transactions SET sequence = sequence + 9000 WHERE sequence > ${first.sequence}`)
      await apart(`totals SET chunk = chunk + 2, transactions = 2, output = 8000000, fees = 13`)
      await world.store.database.run(
        `INSERT INTO "${schema()}".totals VALUES (${first.sequence >> 12n}, 1, 4000000, 5)`,
        [],
      )
      expect(await index.totals()).toEqual(sums(3, 18n))
      expect(await index.totals(0n, first.sequence + 8500n)).toEqual(sums(1, 5n))
      expect(await index.totals(first.sequence, first.sequence + 20_000n)).toEqual(sums(2, 13n))
      expect(await index.totals(first.sequence, second.sequence + 9000n)).toEqual(sums(1, 6n))
    })

    it('lists the mints of an asset, and knows the last one with metadata', async () => {
      const mint = (from: OutputReference, quantity: number, labels?: readonly bigint[]) =>
        accept({
          inputs: [from],
          outputs: [{ address: alice }],
          mint: [[210, 'bb', quantity]],
          ...(labels && { labels }),
        })
      const described = await mint(input(3), 7, [721n])
      const plain = await mint(out(described), 2, [20n])
      const burnt = await mint(out(plain), -1, [721n])
      const under = credential(210)
      expect(await index.asset(under, name('bb'))).toMatchObject({ described: described.id, last: burnt.id })
      expect(await index.asset(under, name('bb'), { sequence: described.sequence - 1n })).toBeUndefined()
      expect(await index.mints(under, name('bb'), all)).toEqual([
        { id: described.id, quantity: 7n },
        { id: plain.id, quantity: 2n },
        { id: burnt.id, quantity: -1n },
      ])
      const newest = { offset: 0, limit: 1, order: 'newest-first' } as const
      expect(await index.mints(under, name('bb'), newest, plain)).toEqual([{ id: plain.id, quantity: 2n }])
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
      const under = credential(210)
      const assets = (at = {}) => index.assets(under, all, at)
      const left = [
        { policy: under, name: name(''), quantity: 1n },
        { policy: under, name: name('bb'), quantity: 0n },
      ]
      expect(await assets()).toEqual(left)
      expect(await assets({ sequence: minted.sequence })).toEqual([
        left[0],
        { policy: under, name: name('bb'), quantity: 7n },
      ])
      const [ofOthers, ...every] = await index.assets(undefined, all)
      expect(ofOthers).toEqual({ policy, name: name('aa'), quantity: 40n })
      expect(every).toEqual(left)
      expect(await index.assets(undefined, { offset: 0, limit: 1, order: 'newest-first' })).toEqual([left[1]])
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
      expect(await index.assets(policy, all, { sequence: 0n })).toEqual([ofOthers])
    })

    it('lists the valid transactions with a label of metadata, by age', async () => {
      const [low, high] = [0n, 2n ** 64n - 1n]
      const first = await accept({ inputs: [input(2)], outputs: [{ address: alice }], labels: [low, high] })
      const second = await accept({ inputs: [out(first)], outputs: [{ address: alice }], labels: [high] })
      await accept({
        inputs: [input(5)],
        outputs: [],
        labels: [high],
        collateral: { input: input(6), back: { address: alice } },
      })
      const ids = async (label: bigint, part: IndexPart = all, at = {}) =>
        (await index.labelled(label, part, at)).map(({ id }) => id)
      expect(await ids(low)).toEqual([first.id])
      expect(await ids(high)).toEqual([first.id, second.id])
      expect(await ids(high, { offset: 0, limit: 1, order: 'newest-first' })).toEqual([second.id])
      expect(await ids(high, { offset: 1, limit: 9 })).toEqual([second.id])
      expect(await ids(high, all, { sequence: first.sequence })).toEqual([first.id])
      expect(await ids(1n)).toEqual([])
      const counts = [
        { label: low, count: 1 },
        { label: high, count: 2 },
      ]
      expect(await index.labels(all)).toEqual(counts)
      expect(await index.labels({ offset: 0, limit: 1, order: 'newest-first' })).toEqual([counts[1]])
      expect(await index.labels(all, first)).toEqual(counts.map((each) => ({ ...each, count: 1 })))
      expect(await index.labels(all, { sequence: 0n })).toEqual([])
    })

    it('finds datums, data of redeemers and scripts by their hash', async () => {
      const inline = Uint8Array.of(0x18, 0x63)
      const redeemer = Uint8Array.of(0x18, 0x64)
      await accept({
        inputs: [input(4)],
        outputs: [{ address: script, datum: inline, script: plutus }],
        datums: [datum],
        scripts: [Uint8Array.of(1, 2)],
        redeemers: [[0, 0, redeemer]],
      })
      expect(await index.datums([blake2b256(redeemer)])).toMatchObject([{ bytes: redeemer }])
      expect(await index.datums([blake2b256(datum)])).toMatchObject([{ bytes: datum }])
      expect(await index.datums([blake2b256(inline)])).toMatchObject([{ bytes: inline }])
      expect(await index.datums([new Uint8Array(32)])).toEqual([])
      for (const bytes of [plutus, Uint8Array.of(1, 2)]) {
        const hash = scriptHash('PlutusV3', bytes)
        expect(await index.script(hash)).toEqual({ language: 'PlutusV3', hash, bytes })
      }
      expect(await index.script(new Uint8Array(28))).toBeUndefined()
    })

    it('lists scripts by their first transaction', async () => {
      const hashes = [plutus, Uint8Array.of(1, 3)].map((bytes) => scriptHash('PlutusV3', bytes))
      const outputs = [{ address: alice, script: plutus, datum }]
      const first = await accept({ inputs: [input(4)], outputs })
      await accept({ inputs: [out(first)], outputs, scripts: [Uint8Array.of(1, 3)] })
      expect(await index.scripts(all)).toEqual(hashes)
      expect(await index.scripts({ ...all, order: 'newest-first' })).toEqual(hashes.toReversed())
      expect(await index.scripts({ offset: 1, limit: 1 })).toEqual(hashes.slice(1))
      expect(await index.scripts(all, first)).toEqual(hashes.slice(0, 1))
    })

    it('lists the redeemers of scripts that lock outputs, mint and withdraw', async () => {
      const owner = credential(60)
      const paid = await accept({ inputs: [input(4)], outputs: [{ address: script }, { address: script }] })
      // Of an earlier step, and of the same one.
      const one = transactionOf({
        inputs: [out(paid), input(5)].sort(byReference),
        outputs: [{ address: script }],
        mint: [[60, 'aa', 1]],
        withdrawals: [61, 60],
        redeemers: [
          [3, 0, datum],
          [1, 0, datum],
          [0, [out(paid), input(5)].sort(byReference).indexOf(out(paid)), datum],
          [0, 9, datum],
        ],
      })
      const two = transactionOf({
        inputs: [{ transactionId: one.id, index: 0 }],
        outputs: [{ address: alice }],
        redeemers: [[0, 0, datum]],
      })
      await world.store.withLedger((ledger) => ledger.apply({ transactions: [one, two] }))
      await index.caughtUp()
      const found = await index.redeemers(owner, all)
      expect(found.map(({ id, purpose }) => [id, purpose])).toEqual([
        [one.id, 'reward'],
        [one.id, 'mint'],
        [one.id, 'spend'],
        [two.id, 'spend'],
      ])
      expect(found[1]).toEqual({
        id: one.id,
        purpose: 'mint',
        index: 0,
        data: blake2b256(datum),
        memory: 1_000n,
        steps: 20_000n,
      })
      const newest = { ...all, order: 'newest-first' } as const
      expect(await index.redeemers(owner, newest)).toEqual(found.toReversed())
      expect(await index.redeemers(owner, { offset: 1, limit: 2 })).toEqual(found.slice(1, 3))
      const known = await index.transaction(one.id)
      expect(await index.redeemers(owner, all, known)).toEqual(found.slice(0, 3))
      expect(await index.redeemers(credential(50), all)).toEqual([])
      for (const account of [60, 61])
        expect(await index.withdrawals(credential(account), all)).toEqual([known])
      expect(await index.withdrawals(owner, all, paid)).toEqual([])
      expect(await index.withdrawals(owner, { offset: 1, limit: 1 })).toEqual([])
    })

    it('shows the collateral of a transaction whose scripts failed', async () => {
      const failed = await accept({
        inputs: [input(5)],
        outputs: [{ address: alice }],
        mint: [[211, 'aa', 1]],
        withdrawals: [211],
        redeemers: [[1, 0, datum]],
        collateral: { input: input(6), back: { address: alice } },
      })
      const [back] = await index.outputs({ address: alice }, all)
      expect(back).toMatchObject({ index: 1, transactionId: failed.id, collateralReturn: true })
      const [collateral] = await index.outputs({ references: [input(6)] }, all)
      expect(collateral!.spent).toEqual({ sequence: failed.sequence, id: failed.id, valid: false })
      expect(await find({ references: [input(5)], ...unspent })).toEqual(names(input(5)))
      expect(await index.assets(credential(211), all)).toEqual([])
      expect(await index.redeemers(credential(211), all)).toEqual([])
      expect(await index.withdrawals(credential(211), all)).toEqual([])
    })
  })
}
