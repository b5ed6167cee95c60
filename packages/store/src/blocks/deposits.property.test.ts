import type { OutputReference } from '@ratatosk/ledger'
import { collect } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AppliedTransaction, LedgerEntry } from '../ledger/ledger.js'
import type { AcceptedChange } from '../queries/chain.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { countStrays } from '../test/inspect.js'
import {
  createExaminer,
  creditedOutput,
  deposit,
  entry,
  foreignBlock,
  headerHashOf,
  hex,
  newBlock,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { CreditedDeposit } from './types.js'

const runs = Number(process.env.STORE_PROPERTY_RUNS ?? 10)
const alice = walletOf('alice')
const bridge = walletOf('bridge')
const genesis = Array.from({ length: 3 }, (_, index) => entry(outputOf('genesis', index), alice))

const number = fc.nat(1000)
const numbers = fc.array(number, { minLength: 1, maxLength: 3 })
const few = fc.nat(2)

/** Numbers choose among the existing items. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      picks: fc.array(numbers, { minLength: 1, maxLength: 4 }),
      leaves: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('build' as const), limit: fc.nat(4), deposits: few }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('return' as const), block: number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), block: number }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('revive' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), pick: number }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('adopt' as const),
      picks: fc.array(fc.record({ isNew: fc.boolean(), choice: number }), { maxLength: 4 }),
      deposits: few,
      again: fc.array(fc.boolean(), { maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forget' as const), pick: number }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('merge' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

describeBackends('deposits and withdrawals', (backend) => {
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
  await test.store.applyGenesis(genesis)
  const walk = await startWalk(test.store)
  const follower = new Follower()
  for (const each of steps) {
    await walk.run(each)
    await expectAgreement(test, walk.model)
    await follower.follow(test.store, walk.model)
  }
}

async function startWalk(store: Store) {
  const { blocks } = store
  const lease = await takeLease(store)
  const model = new Model()
  const examiner = createExaminer()
  let names = 0
  const newDeposits = (count: number) =>
    Array.from({ length: count }, () => deposit(`deposit ${names++}`, alice))

  function make(unspent: readonly LedgerEntry[], picks: readonly number[], leaves: boolean) {
    const spent = [...new Set(picks.map((pick) => unspent[pick % unspent.length]!.reference))]
    const made = transaction(`${names++}`, spent, [alice, alice])
    const left = { ...entry({ transactionId: made.id, index: 2 }, bridge), left: true as const }
    return examiner.learn(leaves ? { ...made, produced: [...made.produced, left] } : made)
  }

  const fits = (made: AppliedTransaction, unspent: ReadonlyMap<string, LedgerEntry>) =>
    made.spent.every((reference) => unspent.has(key(reference)))

  async function build(limit: number, count: number): Promise<void> {
    const deposits = [...model.waiting, ...newDeposits(count)]
    const contents = model.mempool.slice(0, limit)
    const name = `block ${names++}`
    const block = { ...(await newBlock(store, name, Math.max(limit, 1))), transactions: contents.length }
    const built = blocks.build({ ...block, deposits }, lease)
    if (contents.length + deposits.length === 0)
      return expect(built).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
    if (contents.length === 0 && model.mempool.length > 0)
      return expect(built).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    await built
    model.append({ name, contents, deposits })
  }

  async function revive(block: ModelBlock): Promise<void> {
    const { name, contents, deposits } = block
    const hash = headerHashOf(name)
    // A block whose deposits have gone elsewhere is adopted again instead.
    if ((await blocks.depositsOf(hash)).length < deposits.length) return
    const stored = await blocks.byHash(hash)
    const newest = await blocks.newest()
    const [oldest] = await blocks.oldest(1)
    const first = stored!.firstSequence
    const follows = hex(stored!.previousHeaderHash) === hex(newest?.headerHash ?? new Uint8Array(28))
    const isPlaced = first > (newest?.lastSequence ?? 0n) && (oldest === undefined || first < oldest.sequence)
    const isOldest = contents.length === 0 ? isPlaced : contents.every((made, n) => model.mempool[n] === made)
    expect((await blocks.creditsOf(hash)).map(({ id }) => hex(id))).toEqual(
      deposits.map(({ id }) => hex(id)).sort(),
    )
    const revived = blocks.revive(hash, lease, deposits)
    if (block.isAdopted || !follows || !isOldest)
      return expect(revived).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    await revived
    model.removed.delete(name)
    model.append(block)
  }

  async function adopt({ picks, deposits: count, again }: Step & { readonly do: 'adopt' }): Promise<void> {
    const waiting = model.waiting.filter((_, n) => again[n] === true)
    const deposits = [...waiting, ...newDeposits(count)]
    const contents: AppliedTransaction[] = []
    const others = model.waiting.filter((each) => !waiting.includes(each))
    const block = { name: `block ${names++}`, contents, deposits, isAdopted: true }
    const after = (chain: readonly ModelBlock[]) => Model.unspent(chain, [], [])
    for (const { isNew, choice } of picks) {
      const unspent = after([...model.chain, block])
      const able = model.mempool.filter((made) => !contents.includes(made) && fits(made, unspent))
      const known = able[choice % Math.max(able.length, 1)]
      const isMade = isNew || known === undefined
      contents.push(isMade ? make([...unspent.values()], [choice, choice + 1], choice % 3 === 0) : known)
    }
    const kept: AppliedTransaction[] = []
    for (const made of model.mempool)
      if (!contents.includes(made) && fits(made, Model.unspent([...model.chain, block], others, kept)))
        kept.push(made)
    const known = model.mempool.filter((made) => contents.includes(made)).length
    const dropped = model.mempool.length - known - kept.length
    const foreign = { ...(await foreignBlock(store, block.name, contents)), deposits }
    expect(await blocks.adopt(foreign, examiner.examine, lease)).toMatchObject({ known, dropped })
    model.mempool = kept
    model.append({ ...block, contents: [...contents] }, false)
  }

  async function drop(pick: number): Promise<void> {
    const { mempool } = model
    if (mempool.length === 0) return
    const first = mempool[pick % mempool.length]!
    const gone = new Set([hex(first.id)])
    for (const { id, spent } of mempool)
      if (spent.some(({ transactionId }) => gone.has(hex(transactionId)))) gone.add(hex(id))
    const reason = { code: 'Expired', message: 'It is too late', details: {} }
    const follow = ({ id }: { readonly id: Uint8Array }) => (gone.has(hex(id)) ? reason : undefined)
    expect(await blocks.drop(new Map([[hex(first.id), reason]]), follow, lease)).toBe(gone.size)
    model.mempool = mempool.filter(({ id }) => !gone.has(hex(id)))
  }

  async function forget(pick: number): Promise<void> {
    const every = [...model.waiting, ...model.chain.flatMap(({ deposits }) => deposits)]
    if (every.length === 0) return
    const chosen = every[pick % every.length]!
    const isFree =
      model.waiting.includes(chosen) && model.ledger.has(key({ transactionId: chosen.id, index: 0 }))
    const forgotten = blocks.forgetDeposits([chosen.id], () => undefined, lease)
    if (!isFree) return expect(forgotten).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    await forgotten
    model.waiting = model.waiting.filter((each) => each !== chosen)
    expect(await store.deposit(chosen.id)).toBeUndefined()
  }

  async function run(each: Step): Promise<void> {
    switch (each.do) {
      case 'apply': {
        const transactions = each.picks.map((picks) => {
          const made = make([...model.ledger.values()], picks, each.leaves)
          model.mempool = [...model.mempool, made]
          return made
        })
        return store.withLedger((ledger) => ledger.apply({ transactions }))
      }
      case 'build':
        return build(each.limit, each.deposits)
      case 'return': {
        const gone = model.remove(each.block)
        await blocks.returnToMempool(BigInt(model.chain.length + 1), lease)
        model.mempool = [...gone.flatMap(({ contents }) => contents), ...model.mempool]
        return
      }
      case 'undo': {
        const gone = model.remove(each.block)
        if (gone.length > 0) model.mempool = []
        await blocks.undo(BigInt(model.chain.length + 1), lease)
        return
      }
      case 'revive':
        for (const block of [...model.removed.values()]) await revive(block)
        return
      case 'drop':
        return drop(each.pick)
      case 'adopt':
        return adopt(each)
      case 'forget':
        return forget(each.pick)
      case 'merge': {
        const block = model.chain[model.merged]
        if (block === undefined) return
        model.merged += 1
        await blocks.setState([headerHashOf(block.name)], 'merged', lease)
        await blocks.forgetSpent(new Date(Date.now() + 3_600_000), lease)
      }
    }
  }
  return { model, run }
}

async function expectAgreement(test: TestStore, model: Model): Promise<void> {
  const { store } = test
  const { blocks } = store
  const cborOf = (transactions: readonly AppliedTransaction[]) => transactions.map(({ cbor }) => cbor)
  expect((await blocks.oldest(1_000)).map(({ cbor }) => cbor)).toEqual(cborOf(model.mempool))
  expect((await blocks.waitingDeposits()).map(({ id }) => hex(id))).toEqual(
    model.waiting.map(({ id }) => hex(id)).sort(),
  )
  expect(await countStrays(test)).toBe(0)
  for (const [n, { name, deposits, contents }] of model.chain.entries()) {
    const hash = headerHashOf(name)
    expect((await blocks.transactionsOf(hash)).map(({ cbor }) => cbor)).toEqual(cborOf(contents))
    expect(await blocks.depositsOf(hash)).toEqual(byId(deposits))
    for (const { id } of deposits)
      expect(await store.deposit(id)).toMatchObject({ headerHash: hash, height: BigInt(n + 1) })
  }
  for (const { id } of model.waiting) expect(await store.deposit(id)).toMatchObject({ state: 'waiting' })

  const bytesOf = (unspent: ReadonlyMap<string, LedgerEntry>) =>
    new Map([...unspent].map(([at, { output }]) => [at, output]))
  const after = (count: number) => bytesOf(Model.unspent(model.chain.slice(0, count), [], []))
  const newest = after(model.chain.length)
  expect(await outputsIn(blocks.utxosAfterNewest())).toEqual(newest)
  for (const block of await blocks.unmerged())
    expect(await outputsIn(blocks.utxosAfter(block))).toEqual(after(Number(block.height)))

  const references = model.everMade.map(({ reference }) => reference)
  const named = await blocks.outputsAfterNewest(references)
  expect(new Map(named.map(({ reference, output }) => [key(reference), output]))).toEqual(newest)
  const ledger = bytesOf(model.ledger)
  expect(await store.ledger.outputs(references)).toEqual(references.map((each) => ledger.get(key(each))))
  const here = (await collect(store.utxoPages(alice.address))).map(({ reference }) => key(reference))
  expect(here.sort()).toEqual([...ledger.keys()].sort())
  expect(await collect(store.utxoPages(bridge.address))).toEqual([])
  const withdrawing = model.accepted.filter(({ produced }) => produced.some(({ left }) => left))
  const whole = { limit: 1_000, offset: 0 }
  expect(await collect(store.historyPages(bridge.address, whole))).toEqual(cborOf(withdrawing))
  expect(await collect(store.historyPages(alice.address, whole))).toEqual(cborOf(model.accepted))
}

async function outputsIn(pages: ReturnType<Store['blocks']['utxosAfterNewest']>) {
  const found = new Map<string, Uint8Array>()
  for await (const page of pages) {
    for (const { transactionId, index, output } of page) {
      expect(found.has(key({ transactionId, index }))).toBe(false)
      found.set(key({ transactionId, index }), output)
    }
  }
  return found
}

/** A follower of acceptance, such as the index. */
class Follower {
  readonly #known = new Map<bigint, string>()
  #after = 0n
  #drop = 0n

  async follow({ blocks, changes, chain }: Store, model: Model): Promise<void> {
    for (const { sequence, id } of await changes.accepted(this.#after, 1_000)) {
      this.#known.set(sequence, hex(id))
      this.#after = sequence
    }
    for (const { number, transaction: gone } of await changes.dropped(this.#drop, 1_000)) {
      if (gone !== undefined) this.#known.delete(gone.sequence)
      this.#drop = number
    }
    const all = await changes.accepted(0n, 1_000)
    expect([...this.#known]).toEqual(all.map(({ sequence, id }) => [sequence, hex(id)]))
    expect(replay(all, model)).toEqual([...model.ledger.keys()].sort())

    const latest = all.findLast(({ deposit: isDeposit }) => isDeposit)?.sequence
    const pending = (await blocks.oldest(1_000)).at(-1)?.sequence
    const both = [latest, pending].filter((sequence) => sequence !== undefined)
    expect(await chain.newestSequence()).toBe(both.sort((one, other) => Number(one - other)).at(-1))

    for (const block of await blocks.range(BigInt(Math.max(model.merged, 1)), 1_000n)) {
      const beside = await chain.depositsBeside(block)
      expect(await chain.depositsBetween({ height: 0n, lastSequence: 0n }, block)).toEqual(beside)
      const { credited, waiting } = beside
      const has = (sequence: bigint) =>
        sequence <= block.lastSequence ? !waiting.includes(sequence) : credited.includes(sequence)
      const unspent = Model.unspent(model.chain.slice(0, Number(block.height)), [], [])
      const followed = all.filter(({ sequence }) => has(sequence))
      expect(replay(followed, model)).toEqual([...unspent.keys()].sort())
      const places = await chain.places([...credited, block.lastSequence])
      expect([...places.values()].every((place) => place.block.height <= block.height)).toBe(true)
    }
  }
}

/** The unspent outputs after these, each of which spends what is there. */
function replay(changes: readonly AcceptedChange[], model: Model): string[] {
  const unspent = new Set(genesis.map(({ reference }) => key(reference)))
  const effects = new Map(model.accepted.map((made) => [hex(made.id), made]))
  for (const { id, deposit: isDeposit } of changes) {
    if (isDeposit) {
      unspent.add(key({ transactionId: id, index: 0 }))
      continue
    }
    const { spent, produced } = effects.get(hex(id))!
    for (const reference of spent) expect(unspent.delete(key(reference))).toBe(true)
    for (const { reference, left } of produced) if (!left) unspent.add(key(reference))
  }
  return [...unspent].sort()
}

interface ModelBlock {
  readonly name: string
  readonly contents: readonly AppliedTransaction[]
  readonly deposits: readonly CreditedDeposit[]
  readonly isAdopted?: boolean
}

/** The expected content of the store, in plain data. */
class Model {
  readonly chain: ModelBlock[] = []
  readonly removed = new Map<string, ModelBlock>()
  waiting: readonly CreditedDeposit[] = []
  mempool: readonly AppliedTransaction[] = []
  merged = 0
  /** Every output that was ever there. */
  readonly everMade: LedgerEntry[] = [...genesis]

  get accepted(): readonly AppliedTransaction[] {
    return [...this.chain.flatMap(({ contents }) => contents), ...this.mempool]
  }

  get ledger(): Map<string, LedgerEntry> {
    return Model.unspent(this.chain, this.waiting, this.mempool)
  }

  append(block: ModelBlock, takesOldest = true): void {
    this.chain.push(block)
    this.waiting = this.waiting.filter((each) => !block.deposits.includes(each))
    if (takesOldest) this.mempool = this.mempool.slice(block.contents.length)
    for (const each of block.deposits) this.everMade.push(creditedOutput(each))
    for (const { produced } of block.contents) this.everMade.push(...produced)
  }

  remove(pick: number): ModelBlock[] {
    const from = this.merged + (pick % (this.chain.length - this.merged + 1))
    const gone = this.chain.splice(from)
    this.waiting = [...this.waiting, ...gone.flatMap(({ deposits }) => deposits)]
    for (const block of gone) this.removed.set(block.name, block)
    return gone
  }

  /** Unspent after these blocks, with deposits that wait, and later transactions. */
  static unspent(
    chain: readonly ModelBlock[],
    waiting: readonly CreditedDeposit[],
    mempool: readonly AppliedTransaction[],
  ): Map<string, LedgerEntry> {
    const unspent = new Map(genesis.map((output) => [key(output.reference), output]))
    for (const { deposits, contents } of [...chain, { deposits: waiting, contents: mempool }]) {
      for (const output of deposits.map(creditedOutput)) unspent.set(key(output.reference), output)
      for (const { spent, produced } of contents) {
        for (const reference of spent) unspent.delete(key(reference))
        for (const { left, ...output } of produced) if (!left) unspent.set(key(output.reference), output)
      }
    }
    return unspent
  }
}

const key = ({ transactionId, index }: OutputReference): string => `${hex(transactionId)}#${index}`
const byId = (deposits: readonly CreditedDeposit[]): CreditedDeposit[] =>
  [...deposits].sort((one, other) => Buffer.compare(one.id, other.id))
