import { concatBytes } from '@ratatosk/cbor'
import type { SharedDriver } from '@ratatosk/database'
import type { AppliedTransaction, CreditedDeposit } from '@ratatosk/store'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, test } from 'vitest'
import { addressOf, credential, genesis, genesisOf, type OutputDraft, transactionOf } from './test/history.js'
import { backends, createWorld, dumpIndex, unspentOf, type World } from './test/world.js'
import type { At, LedgerIndex, OutputQuery } from './types.js'

const all = { offset: 0, limit: 100 }
const alice = addressOf(50)
const script = credential(77)
/** The address where outputs leave layer 2. */
const bridge = concatBytes(Uint8Array.of(0x70), script)
const [policy, name] = [credential(220), Uint8Array.of(0xaa)]
const five = [220, 'aa', 5] as const

function depositOf(number: number, draft: OutputDraft): CreditedDeposit {
  const [entry] = genesisOf([draft])
  return { id: new Uint8Array(32).fill(number), output: entry!.output, address: draft.address }
}

const one = depositOf(1, { address: alice, assets: [five], datum: Uint8Array.of(7) })
const two = depositOf(2, { address: alice })
const outputOf = ({ id }: { readonly id: Uint8Array }) => ({ transactionId: id, index: 0 })

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(`an index with a bridge on ${backend.name}`, () => {
    let world: World
    let index: LedgerIndex
    const schema = () => `${world.schema}_index`

    beforeAll(async () => {
      await (await createWorld(backend)).close()
    }, 120_000)

    beforeEach(async () => {
      world = await createWorld(backend)
      await world.store.applyGenesis(genesis)
      index = await world.index(schema(), { bridge: script })
    })

    afterEach(() => world.close())

    const ids = async (query: OutputQuery, at?: At) => {
      await index.caughtUp()
      return (await index.outputs({ ...query, spent: false }, all, at)).map(
        ({ transactionId }) => transactionId,
      )
    }

    async function build(number: number, ...deposits: readonly CreditedDeposit[]) {
      const { blocks } = world.store
      const oldest = await blocks.oldest(100)
      const newest = await blocks.newest()
      const headerHash = credential(number)
      return blocks.build(
        {
          headerHash,
          header: headerHash,
          previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
          utxosRoot: new Uint8Array(32),
          startTime: BigInt(number),
          endTime: BigInt(number + 1),
          firstSequence: oldest.at(0)?.sequence ?? 0n,
          lastSequence: oldest.at(-1)?.sequence ?? 0n,
          transactions: oldest.length,
          commitTransaction: { id: new Uint8Array(32).fill(number), cbor: headerHash },
          deposits,
        },
        world.lease,
      )
    }

    const apply = (transaction: AppliedTransaction) =>
      world.store.withLedger((ledger) => ledger.apply({ transactions: [transaction] }))

    async function expectSameAsLedger() {
      await index.caughtUp()
      const { ledger, index: found } = await unspentOf(world.store.database, schema(), world.schema)
      expect(found).toEqual(ledger)
    }

    it('shows what deposits bring, by address, asset and reference', async () => {
      await build(1, one, two)
      expect(await ids({ address: alice })).toEqual(expect.arrayContaining([one.id, two.id]))
      expect(await ids({ policy, assetName: name })).toEqual([one.id])
      expect(await ids({ references: [outputOf(two)] })).toEqual([two.id])
      expect(await ids({ transaction: one.id })).toEqual([one.id])
      expect(await index.asset(policy, name)).toEqual({ quantity: 5n, mints: 1, first: one.id, last: one.id })
      expect(await index.transaction(one.id)).toMatchObject({ id: one.id, valid: true })
      expect(await index.history({ address: alice }, all)).toHaveLength(2)
      await expectSameAsLedger()
    })

    it('shows deposits spent, and undoes them', async () => {
      await build(1, one)
      const before = await index.caughtUp().then(() => dumpIndex(world.store.database, schema()))
      const spend = transactionOf({
        inputs: [outputOf(one)],
        outputs: [{ address: alice, assets: [five] }],
      })
      await apply(spend)
      expect(await ids({ policy })).toEqual([spend.id])
      const [spent] = await index.outputs({ references: [outputOf(one)] }, all)
      expect(spent?.spent).toMatchObject({ id: spend.id })
      await world.store.blocks.undo(1n, world.lease)
      expect(await ids({ policy })).toEqual([one.id])
      expect(await dumpIndex(world.store.database, schema())).toEqual(before)
      await world.store.blocks.forgetDeposits([one.id], () => undefined, world.lease)
      expect(await ids({ policy })).toEqual([])
      expect(await index.assets(policy, all)).toEqual([])
      await expectSameAsLedger()
      await build(2, one)
      expect(await ids({ policy })).toEqual([one.id])
    })

    it('does not have what leaves layer 2, and counts its assets as burnt', async () => {
      await build(1, one)
      const outputs = [
        { address: bridge, assets: [[220, 'aa', 2] as const], datum: Uint8Array.of(9) },
        { address: alice, assets: [[220, 'aa', 3] as const] },
      ]
      const made = transactionOf({ inputs: [outputOf(one)], outputs, mint: [[221, 'aa', 1]] })
      const [left, ...rest] = made.produced
      await apply({ ...made, produced: [{ ...left!, left: true }, ...rest] })
      await expectSameAsLedger()
      expect(await index.outputs({ address: bridge }, all)).toEqual([])
      expect(await index.asset(policy, name)).toEqual({
        quantity: 3n,
        mints: 2,
        first: one.id,
        last: made.id,
      })
      expect(await index.asset(credential(221), name)).toMatchObject({ quantity: 1n })
    })

    it('counts nothing for what is minted and leaves at once', async () => {
      const outputs = [{ address: bridge, assets: [[222, 'aa', 2] as const] }]
      const mint = [[222, 'aa', 2]] as const
      const made = transactionOf({ inputs: [genesis[0]!.reference], outputs, mint })
      await apply({ ...made, produced: made.produced.map((each) => ({ ...each, left: true })) })
      await index.caughtUp()
      expect(await index.asset(credential(222), name)).toBeUndefined()
    })

    it('shows the ledger after a block with its deposits, and without those that wait', async () => {
      const paid = transactionOf({ inputs: [genesis[0]!.reference], outputs: [{ address: addressOf(51) }] })
      await apply(paid)
      const first = await build(1, one)
      const second = await build(2, two)
      const at = async (block: typeof first): Promise<At> => ({
        sequence: block.lastSequence,
        ...(await world.store.chain.depositsBeside(block)),
      })
      expect(await ids({ address: alice }, { sequence: first.lastSequence })).toEqual([])
      expect(await ids({ address: alice }, await at(first))).toEqual([one.id])
      expect(await ids({ policy }, await at(first))).toEqual([one.id])
      expect(await ids({ address: alice }, await at(second))).toEqual([one.id, two.id])
      expect(await index.knowsAddress(alice, { sequence: first.lastSequence })).toBe(false)
      expect(await index.knowsAddress(alice, await at(first))).toBe(true)
      expect(await index.history({ address: alice }, all, await at(first))).toMatchObject([{ id: one.id }])
      const newestFirst = { ...all, order: 'newest-first' } as const
      expect(await index.outputs({ address: alice }, newestFirst, await at(second))).toMatchObject([
        { transactionId: two.id },
        { transactionId: one.id },
      ])
      const waits = { ...(await at(second)), waiting: [(await index.transaction(one.id))!.sequence] }
      expect(await ids({ address: alice }, { ...waits, credited: [] })).toEqual([two.id])
      expect(await index.history({ address: alice }, all, waits)).toMatchObject([{ id: two.id }])
    })

    it('is rebuilt as it was', async () => {
      await build(1, one)
      await apply(transactionOf({ inputs: [outputOf(one)], outputs: [{ address: alice }] }))
      await build(2, two)
      await index.caughtUp()
      const before = await dumpIndex(world.store.database, schema())
      await index.rebuild()
      await index.caughtUp()
      expect(await dumpIndex(world.store.database, schema())).toEqual(before)
    })
  })
}

describe('mints', () => {
  const mints = 500
  const policy = credential(200)

  interface Plan {
    readonly 'Actual Rows': number
    readonly 'Actual Loops': number
    readonly Plans?: readonly Plan[]
  }

  /** The rows that all steps of a plan gave. */
  function rowsOf({ 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] }: Plan): number {
    return Plans.reduce((sum, each) => sum + rowsOf(each), rows * loops)
  }

  /** The same database, and the most rows that a step of a statement about mints has read through it. */
  function explained(database: SharedDriver): { database: SharedDriver; rows: () => number } {
    let most = 0
    return {
      rows: () => most,
      database: {
        ...database,
        transaction: (work) =>
          database.transaction((transaction) =>
            work({
              ...transaction,
              async run(text, parameters) {
                if (/^\s*SELECT/.test(text) && text.includes('.mints')) {
                  const plan = await transaction.run(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, parameters)
                  const [row] = plan.rows as readonly { readonly 'QUERY PLAN': readonly { Plan: Plan }[] }[]
                  most = Math.max(most, rowsOf(row!['QUERY PLAN'][0]!.Plan))
                }
                return transaction.run(text, parameters)
              },
            }),
          ),
      },
    }
  }

  for (const backend of backends)
    test.skipIf(backend.missing !== undefined)(
      `what is left of an asset is read, not summed, on ${backend.name}`,
      async () => {
        const world = await createWorld(backend)
        onTestFinished(() => world.close())
        const genesis = genesisOf(
          Array.from({ length: mints }, (_, n) => ({ address: addressOf(n % 7), assets: [[200, 'aa', 2]] })),
        )
        await world.store.applyGenesis(genesis)
        const { database, rows } = explained(world.store.database)
        const index = await world.index(`${world.schema}_index`, { genesis, database })
        await index.caughtUp()
        const quantity = BigInt(2 * mints)
        const name = Buffer.from('aa', 'hex')
        expect(await index.asset(policy, name)).toMatchObject({ quantity, mints })
        expect(await index.asset(policy, name, { sequence: -10n })).toMatchObject({ mints: mints - 9 })
        expect(await index.assets(policy, { offset: 0, limit: 10 })).toMatchObject([{ quantity }])
        expect(rows()).toBeGreaterThan(0)
        expect(rows()).toBeLessThan(30)
      },
    )
})
