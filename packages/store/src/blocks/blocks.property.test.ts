import type { OutputReference } from '@ratatosk/ledger'
import type { BlockState } from '@ratatosk/ports'
import { collect } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AppliedTransaction, LedgerEntry } from '../ledger/ledger.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { countStrays, followEvents } from '../test/inspect.js'
import {
  buildBlock,
  createExaminer,
  entry,
  foreignBlock,
  headerHashOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const runs = Number(process.env.STORE_PROPERTY_RUNS ?? 8)
const states = ['built', 'submitted', 'committed', 'mature'] as const

/** The next transaction of an adopted block: one of the mempool, or a new one. */
interface Choice {
  readonly isNew: boolean
  readonly choice: number
}

/** Numbers choose among the existing items. */
type Step =
  | { readonly do: 'apply'; readonly picks: readonly (readonly number[])[]; readonly paid: number }
  | { readonly do: 'build'; readonly limit: number }
  | { readonly do: 'set'; readonly block: number; readonly state: (typeof states)[number] }
  | { readonly do: 'return'; readonly block: number; readonly again: boolean }
  | { readonly do: 'revive' }
  | { readonly do: 'drop'; readonly picks: readonly number[] }
  | { readonly do: 'adopt'; readonly picks: readonly Choice[]; readonly asks: boolean }
  | { readonly do: 'merge' }
  | { readonly do: 'forget' }

const apply = fc.record({
  do: fc.constant('apply' as const),
  picks: fc.array(fc.array(fc.nat(1000), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
  paid: fc.integer({ min: 1, max: 3 }),
})
const build = fc.record({ do: fc.constant('build' as const), limit: fc.integer({ min: 1, max: 8 }) })
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: apply, weight: 5 },
  { arbitrary: build, weight: 5 },
  {
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      block: fc.nat(1000),
      state: fc.constantFrom(...states),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ do: fc.constant('return' as const), block: fc.nat(1000), again: fc.boolean() }),
    weight: 3,
  },
  { arbitrary: fc.constant<Step>({ do: 'revive' }), weight: 2 },
  {
    arbitrary: fc.record({
      do: fc.constant('drop' as const),
      picks: fc.array(fc.nat(1000), { minLength: 1, maxLength: 2 }),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('adopt' as const),
      picks: fc.array(fc.record({ isNew: fc.boolean(), choice: fc.nat(1000) }), { maxLength: 6 }),
      asks: fc.boolean(),
    }),
    weight: 4,
  },
  { arbitrary: fc.constant<Step>({ do: 'merge' }), weight: 2 },
  { arbitrary: fc.constant<Step>({ do: 'forget' }), weight: 1 },
)

describeBackends('blocks', (backend) => {
  it('agree with a model over random steps', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
        const test = await backend.create()
        try {
          await compare(test, steps)
        } finally {
          await test.drop()
        }
      }),
      { numRuns: runs },
    )
  })
})

async function compare(test: TestStore, steps: readonly Step[]): Promise<void> {
  const { store } = test
  const { blocks } = store
  const lease = await takeLease(store)
  await store.applyGenesis(genesis)
  const model = new Model()
  const examiner = createExaminer()
  let names = 0

  /** Whether an operator could have included a transaction in a ledger. */
  const fits = ({ id }: AppliedTransaction, unspent: ReadonlyMap<string, LedgerEntry>) =>
    model.named.get(hex(id))!.every((reference) => unspent.has(key(reference)))

  function make(unspent: readonly LedgerEntry[], picks: readonly number[], paid: number) {
    const spent = [...new Set(picks.map((pick) => unspent[pick % unspent.length]!.reference))]
    names += 1
    const made = transaction(`${names}`, spent, new Array(paid).fill(alice))
    // Whatever it reads beside what it spends leaves no trace in the store.
    const read = unspent[(picks[0]! + picks.length) % unspent.length]!.reference
    model.named.set(hex(made.id), [...spent, read])
    return examiner.learn(made, read)
  }

  async function buildNext(limit: number): Promise<void> {
    if (model.mempool.length === 0) return
    names += 1
    const name = `block ${names}`
    await buildBlock(store, lease, name, limit)
    model.chain.push({ name, state: 'built', contents: model.mempool.slice(0, limit) })
  }

  async function run(step: Step): Promise<void> {
    switch (step.do) {
      case 'apply': {
        const transactions = step.picks.map((picks) => {
          const made = make([...Model.unspent(model.accepted).values()], picks, step.paid)
          model.accepted = [...model.accepted, made]
          return made
        })
        return store.withLedger((ledger) => ledger.apply({ transactions }))
      }
      case 'build':
        return buildNext(step.limit)
      case 'drop': {
        const { mempool } = model
        if (mempool.length === 0) return
        const first = new Set(step.picks.map((pick) => hex(mempool[pick % mempool.length]!.id)))
        const gone = new Set<string>()
        for (const { id } of mempool) {
          const depends = model.named.get(hex(id))!.some(({ transactionId }) => gone.has(hex(transactionId)))
          if (first.has(hex(id)) || depends) gone.add(hex(id))
        }
        const reason = { code: 'Expired', message: 'It is too late', details: {} }
        const dropping = blocks.drop(
          new Map([...first].map((id) => [id, reason])),
          ({ id }, dropped) => {
            const depends = model.named
              .get(hex(id))!
              .some(({ transactionId }) => dropped.has(hex(transactionId)))
            return depends ? { ...reason, code: 'Orphaned' } : undefined
          },
          lease,
        )
        expect(await dropping).toBe(gone.size)
        model.accepted = model.accepted.filter(({ id }) => !gone.has(hex(id)))
        for (const id of gone) {
          expect(await store.rejections.find(`dropped-${id}`)).toMatchObject({
            code: first.has(id) ? 'Expired' : 'Orphaned',
            transactionId: Uint8Array.from(Buffer.from(id, 'hex')),
          })
        }
        return
      }
      case 'set': {
        const block = model.chain.slice(model.merged)[step.block % (model.chain.length - model.merged)]
        if (block === undefined) return
        block.state = step.state
        return blocks.setState([headerHashOf(block.name)], step.state, lease)
      }
      case 'return': {
        const from = model.merged + (step.block % (model.chain.length - model.merged + 1))
        const gone = model.chain.splice(from)
        const returned = await blocks.returnToMempool(BigInt(from + 1), lease)
        expect(returned.map(({ headerHash }) => headerHash)).toEqual(
          gone.map(({ name }) => headerHashOf(name)),
        )
        for (const { name, ...block } of gone) model.removed.set(name, block)
        if (step.again)
          for (const { contents } of gone) if (contents.length > 0) await buildNext(contents.length)
        return
      }
      case 'revive': {
        // Every removed block is tried; the model knows which of them fit where they were.
        for (const [name, { contents, isAdopted }] of [...model.removed]) {
          const before = (await blocks.byHash(headerHashOf(name)))?.previousHeaderHash
          const revived = blocks.revive(headerHashOf(name), lease)
          const newest = model.chain.at(-1)
          const follows =
            Buffer.compare(before!, newest ? headerHashOf(newest.name) : new Uint8Array(28)) === 0
          const isOldest = contents.every((made, n) => model.mempool[n] === made)
          if (isAdopted || !follows || !isOldest) {
            await expect(revived).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
            continue
          }
          expect(await revived).toMatchObject({ state: 'committed' })
          model.removed.delete(name)
          model.chain.push({ name, state: 'committed', contents })
        }
        return
      }
      case 'adopt': {
        const before = model.chain.flatMap(({ contents }) => contents)
        const contents: AppliedTransaction[] = []
        for (const { isNew, choice } of step.picks) {
          const unspent = Model.unspent([...before, ...contents])
          const able = model.mempool.filter((made) => !contents.includes(made) && fits(made, unspent))
          const known = able[choice % Math.max(able.length, 1)]
          contents.push(
            isNew || known === undefined ? make([...unspent.values()], [choice, choice + 1], 2) : known,
          )
        }
        const kept: AppliedTransaction[] = []
        const { mempool } = model
        for (const made of mempool)
          if (!contents.includes(made) && fits(made, Model.unspent([...before, ...contents, ...kept])))
            kept.push(made)
        const known = mempool.filter((made) => contents.includes(made)).length
        const dropped = mempool.length - known - kept.length
        names += 1
        const name = `block ${names}`
        const held = step.asks ? { held: await blocks.inMempool(contents) } : {}
        const block = { ...(await foreignBlock(store, name, contents)), ...held }
        expect(await blocks.adopt(block, examiner.examine, lease)).toMatchObject({ known, dropped })
        model.chain.push({ name, state: 'committed', contents, isAdopted: true })
        model.accepted = [...before, ...contents, ...kept]
        return
      }
      case 'merge': {
        const block = model.chain[model.merged]
        if (block === undefined) return
        block.state = 'merged'
        return blocks.setState([headerHashOf(block.name)], 'merged', lease)
      }
      case 'forget':
        await blocks.forgetSpent(new Date(Date.now() + 3_600_000), lease)
    }
  }

  const events = followEvents(store)
  for (const [number, step] of steps.entries()) {
    await run(step)
    await expectAgreement(test, model)
    await events.follow(number, model.accepted)
  }
  await events.expectOnce(model.accepted)
}

async function expectAgreement(test: TestStore, model: Model): Promise<void> {
  const { store, database, schema } = test
  const { blocks } = store
  const cborOf = (transactions: readonly AppliedTransaction[]) => transactions.map(({ cbor }) => cbor)
  expect((await blocks.oldest(1_000)).map(({ cbor }) => cbor)).toEqual(cborOf(model.mempool))
  const chain = await blocks.range(0n, 1_000n)
  expect(chain.map(({ headerHash, state, height }) => ({ headerHash, state, height }))).toEqual(
    model.chain.map(({ name, state }, n) => ({
      headerHash: headerHashOf(name),
      state,
      height: BigInt(n + 1),
    })),
  )
  for (const [n, { headerHash, previousHeaderHash }] of chain.entries()) {
    expect(previousHeaderHash).toEqual(chain[n - 1]?.headerHash ?? new Uint8Array(28))
    expect((await blocks.transactionsOf(headerHash)).map(({ cbor }) => cbor)).toEqual(
      cborOf(model.chain[n]!.contents),
    )
  }
  const [placed] = await database.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM ${schema}.mempool_transactions)::integer
      + (SELECT count(*) FROM ${schema}.block_transactions)::integer AS count`,
  )
  expect(placed?.count).toBe(model.accepted.length)
  expect(await countStrays(test)).toBe(0)
  expect(await collect(store.historyPages(alice.address, { limit: 1_000, offset: 0 }))).toEqual(
    cborOf(model.accepted),
  )

  const expected = Model.unspent(model.chain.flatMap(({ contents }) => contents))
  const found = new Map<string, Uint8Array>()
  for await (const piece of blocks.utxosAfterNewest()) {
    for (const { transactionId, index, output } of piece) {
      expect(found.has(key({ transactionId, index }))).toBe(false)
      found.set(key({ transactionId, index }), output)
    }
  }
  expect(found).toEqual(new Map([...expected].map(([at, { output }]) => [at, output])))
  const asked = model.accepted.flatMap(({ produced }) => produced.map(({ reference }) => reference))
  const named = [...genesis.map(({ reference }) => reference), ...asked]
  expect(
    new Map(
      (await blocks.outputsAfterNewest(named)).map(({ reference, output }) => [key(reference), output]),
    ),
  ).toEqual(found)
  expect(await collect(store.utxoPages(alice.address))).toHaveLength(Model.unspent(model.accepted).size)
}

const alice = walletOf('alice')
const genesis = Array.from({ length: 5 }, (_, index) => entry(outputOf('genesis', index), alice))

interface ModelBlock {
  readonly name: string
  state: BlockState
  readonly contents: readonly AppliedTransaction[]
  readonly isAdopted?: boolean
}

/** The expected content of the store, in plain data. */
class Model {
  /** Every transaction in the order of acceptance; blocks hold the first of them and the mempool the rest. */
  accepted: readonly AppliedTransaction[] = []
  /** The outputs that each transaction spends or reads, by its id. */
  readonly named = new Map<string, readonly OutputReference[]>()
  readonly chain: ModelBlock[] = []
  readonly removed = new Map<string, Pick<ModelBlock, 'contents' | 'isAdopted'>>()

  get mempool(): readonly AppliedTransaction[] {
    return this.accepted.slice(this.chain.reduce((count, { contents }) => count + contents.length, 0))
  }

  get merged(): number {
    return this.chain.filter(({ state }) => state === 'merged').length
  }

  /** Unspent after these transactions. */
  static unspent(transactions: readonly AppliedTransaction[]): Map<string, LedgerEntry> {
    const unspent = new Map(genesis.map((output) => [key(output.reference), output]))
    for (const { spent, produced } of transactions) {
      for (const reference of spent) unspent.delete(key(reference))
      for (const output of produced) unspent.set(key(output.reference), output)
    }
    return unspent
  }
}

function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
