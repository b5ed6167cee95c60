import type { OutputReference } from '@ratatosk/ledger'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, flushStatistics, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  bytes,
  entry,
  headerHashOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { Block, SequencePart } from './types.js'

const alice = walletOf('alice')
const sizes = [100, 20, 30, 400, 5]

describeBackends('reading blocks', (backend) => {
  let test: TestStore
  let store: Store
  let blocks: Store['blocks']
  let lease: Lease
  let chain: readonly AppliedTransaction[]

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    blocks = store.blocks
    lease = await takeLease(store)
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
    chain = sizes.map((size, n) => ({
      ...transaction(`${n}`, [n === 0 ? outputOf('genesis') : outputOf(`${n - 1}`)], [alice]),
      cbor: new Uint8Array(size).fill(n + 1),
    }))
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
  })

  afterEach(() => test.drop())

  /** Five blocks of one transaction each: merged, removed, and three that are neither. */
  async function makeBlocks(): Promise<Block[]> {
    const lost = await buildBlock(store, lease, 'lost', 2)
    await blocks.returnToMempool(1n, lease)
    const made: Block[] = []
    for (let n = 1; n <= 4; n += 1) made.push(await buildBlock(store, lease, `${n}`, 1))
    await blocks.setState([made[0]!.headerHash], 'merged', lease)
    const [merged] = await blocks.range(1n, 1n)
    return [merged!, { ...lost, state: 'removed' }, ...made.slice(1)]
  }

  it('finds what the mempool holds byte for byte', async () => {
    const [one, two, three] = chain as [AppliedTransaction, AppliedTransaction, AppliedTransaction]
    const [first, second] = (await blocks.oldest(2)).map(({ sequence }) => sequence)
    const other = { ...three, cbor: Uint8Array.of(1) }
    const unknown = transaction('unknown', [], [])
    const held = await blocks.inMempool([unknown, two, other, one])
    expect(held).toEqual(
      new Map([
        [1, second],
        [3, first],
      ]),
    )
    await buildBlock(store, lease, 'a block', 1)
    expect(await blocks.inMempool([one, two])).toEqual(new Map([[1, second]]))
    expect((await blocks.inMempool([])).size).toBe(0)
    // The database is not sent what another operator's block holds: a string cannot hold the hex of this.
    expect((await blocks.inMempool([{ ...two, cbor: new Uint8Array(2 ** 28) }])).size).toBe(0)
  })

  it('returns the oldest transactions, limited by count and bytes', async () => {
    const cases: [limit: number, maxBytes: number | undefined, count: number][] = [
      [10, undefined, 5],
      [3, undefined, 3],
      [0, undefined, 0],
      [10, 1_000, 5],
      [10, 150, 3],
      [10, 149, 2],
      [1, 150, 1],
      [10, 1, 1],
      [10, 0, 1],
      [0, 1_000, 0],
    ]
    for (const [limit, maxBytes, count] of cases) {
      const oldest = await blocks.oldest(limit, maxBytes)
      expect(oldest.map(({ id, cbor }) => ({ id, cbor }))).toEqual(
        chain.slice(0, count).map(({ id, cbor }) => ({ id, cbor })),
      )
      const sequences = oldest.map(({ sequence }) => sequence)
      expect(sequences).toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)))
    }
  })

  it('reads the oldest after a sequence number', async () => {
    const all = await blocks.oldest(10)
    const { sequence } = all[1]!
    expect(await blocks.oldest(10, undefined, sequence)).toEqual(all.slice(2))
    expect(await blocks.oldest(2, 1_000, sequence)).toEqual(all.slice(2, 4))
    expect(await blocks.oldest(10, 1, sequence)).toEqual(all.slice(2, 3))
    expect(await blocks.oldest(10, 1_000, all.at(-1)!.sequence)).toEqual([])
  })

  it('stops at the first transaction that exceeds the bytes, although a later one would fit', async () => {
    await buildBlock(store, lease, 'first', 1)
    expect(await blocks.oldest(10, 60)).toHaveLength(2)
  })

  it('counts the mempool up to a limit', async () => {
    expect(await blocks.waiting(10)).toBe(5)
    expect(await blocks.waiting(3)).toBe(3)
    await buildBlock(store, lease, 'all', 10)
    expect(await blocks.waiting(3)).toBe(0)
    expect(await blocks.oldest(10)).toEqual([])
  })

  it('does not read again what blocks have taken, although nothing was vacuumed since', async () => {
    const many = 20_000
    const table = `${test.schema}.mempool_transactions`
    await test.database.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
    await test.database.query(
      `INSERT INTO ${table} (sequence, event_sequence, transaction_id, cbor)
      SELECT next, next, sha256(('row ' || n)::bytea), sha256(('row ' || n)::bytea)
      FROM (SELECT n, nextval('${test.schema}.accept_sequence') AS next
        FROM generate_series(1, ${many}) AS n) AS rows`,
    )
    await buildBlock(store, lease, 'all', sizes.length + many)
    const last = transaction('last', [outputOf(`${sizes.length - 1}`)], [alice])
    await store.withLedger((ledger) => ledger.apply({ transactions: [last] }))
    const before = await pagesRead()
    expect(await blocks.waiting(1_000)).toBe(1)
    expect(await blocks.oldest(10, 1_000_000)).toMatchObject([{ id: last.id }])
    expect((await pagesRead()) - before).toBeLessThan(50)
  })

  /** Pages of the mempool that the store has read so far. */
  async function pagesRead(): Promise<number> {
    await flushStatistics(test)
    const [row] = await test.database.query<{ count: bigint }>(
      `SELECT (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint AS count
      FROM pg_statio_user_tables WHERE schemaname = $1 AND relname = 'mempool_transactions'`,
      [test.schema],
    )
    return Number(row!.count)
  }

  it('returns nothing if there are no blocks', async () => {
    expect(await blocks.newest()).toBeUndefined()
    expect(await blocks.confirmed()).toBeUndefined()
    expect(await blocks.unmerged()).toEqual([])
    expect(await blocks.byHash(headerHashOf('1'))).toBeUndefined()
    expect(await blocks.byHeight(1n)).toBeUndefined()
    expect(await blocks.range(0n, 100n)).toEqual([])
    expect(await blocks.transactionsOf(headerHashOf('1'))).toEqual([])
    expect(await blocks.counts(10)).toEqual([])
  })

  it('finds blocks by state, height and hash', async () => {
    const [merged, removed, two, three, four] = await makeBlocks()
    expect(await blocks.newest()).toEqual(four)
    expect(await blocks.confirmed()).toEqual(merged)
    expect(await blocks.unmerged()).toEqual([two, three, four])
    for (const block of [merged, removed, two]) {
      expect(await blocks.byHash(block!.headerHash)).toEqual(block)
    }
    const hashes = [headerHashOf('unknown'), removed!.headerHash, two!.headerHash]
    expect((await blocks.byHashes(hashes)).map(({ height }) => height).sort()).toEqual(
      [removed!, two!].map(({ height }) => height).sort(),
    )
    expect(await blocks.byHashes([])).toEqual([])
    expect(await blocks.byHeight(1n)).toEqual(merged)
    expect(await blocks.byHeight(4n)).toEqual(four)
    expect(await blocks.byHeight(5n)).toBeUndefined()
  })

  it('returns ranges of heights', async () => {
    const [merged, , two, three, four] = await makeBlocks()
    expect(await blocks.range(0n, 100n)).toEqual([merged, two, three, four])
    expect(await blocks.range(2n, 3n)).toEqual([two, three])
    expect(await blocks.range(4n, 4n)).toEqual([four])
    expect(await blocks.range(3n, 2n)).toEqual([])
  })

  it('returns the newest counts', async () => {
    const [, , two, three, four] = await makeBlocks()
    const count = ({ height, state, headerHash, transactions }: Block) => ({
      height,
      state,
      headerHash,
      transactions,
    })
    expect(await blocks.counts(3)).toEqual([four, three, two].map((block) => count(block!)))
    expect(await blocks.counts(0)).toEqual([])
    expect(await blocks.counts(10)).toHaveLength(4)
  })

  it('returns pages of transactions', async () => {
    const { headerHash } = await buildBlock(store, lease, 'all', 10)
    const cbor = chain.map((one) => one.cbor)
    const read = async (part?: Partial<SequencePart>) =>
      (await blocks.transactionsOf(headerHash, part)).map((one) => one.cbor)
    expect(await read()).toEqual(cbor)
    expect(await read({ limit: 2 })).toEqual(cbor.slice(0, 2))
    expect(await read({ offset: 2, limit: 2 })).toEqual(cbor.slice(2, 4))
    expect(await read({ offset: 4 })).toEqual(cbor.slice(4))
    expect(await read({ offset: 5 })).toEqual([])
    await blocks.returnToMempool(1n, lease)
    expect(await read()).toEqual([])
  })

  it('refuses limits that are not whole numbers from 0', async () => {
    const refused = { code: 'STORE_INVALID_ARGUMENT' }
    for (const number of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(blocks.oldest(number)).rejects.toMatchObject(refused)
      await expect(blocks.oldest(1, number)).rejects.toMatchObject(refused)
      await expect(blocks.waiting(number)).rejects.toMatchObject(refused)
      await expect(blocks.counts(number)).rejects.toMatchObject(refused)
      for (const page of [{ offset: number }, { limit: number }]) {
        await expect(blocks.transactionsOf(bytes('any'), page)).rejects.toMatchObject(refused)
      }
    }
  })
})

const count = 12_001

describeBackends('outputs after the newest block', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
  })

  afterEach(() => test.drop())

  async function keys(pieces = store.blocks.utxosAfterNewest()): Promise<string[]> {
    const found: string[] = []
    for await (const piece of pieces) {
      for (const { transactionId, index, output } of piece) {
        expect(output).toEqual(entry({ transactionId, index }, alice).output)
        found.push(key({ transactionId, index }))
      }
    }
    return found.sort()
  }

  it('are empty for an empty ledger', async () => {
    expect(await keys()).toEqual([])
  })

  it('are the genesis until a block is built, whatever the mempool spends', async () => {
    await store.applyGenesis([entry(outputOf('genesis'), alice), entry(outputOf('genesis', 1), alice)])
    const genesis = [key(outputOf('genesis')), key(outputOf('genesis', 1))]
    expect(await keys()).toEqual(genesis)
    const chain = [
      transaction('a', [outputOf('genesis')], [alice, alice]),
      transaction('b', [outputOf('a', 1)], [alice]),
      transaction('c', [outputOf('b'), outputOf('genesis', 1)], [alice]),
    ]
    // In one batch, so that what b makes never enters the ledger.
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
    expect(await keys()).toEqual(genesis)
    await buildBlock(store, lease, 'one', 2)
    expect(await keys()).toEqual([outputOf('genesis', 1), outputOf('a'), outputOf('b')].map(key).sort())
    await buildBlock(store, lease, 'two', 1)
    expect(await keys()).toEqual([outputOf('a'), outputOf('c')].map(key).sort())
    const [one, two] = await store.blocks.range(1n, 2n)
    const afterOne = [outputOf('genesis', 1), outputOf('a'), outputOf('b')].map(key).sort()
    expect(await keys(store.blocks.utxosAfter(one!))).toEqual(afterOne)
    expect(await keys(store.blocks.utxosAfter(two!))).toEqual(await keys())
    await store.blocks.returnToMempool(1n, lease)
    expect(await keys()).toEqual(genesis)
  })

  it('are read in pages', async () => {
    const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
    await store.applyGenesis(many)
    const pieces: number[] = []
    for await (const piece of store.blocks.utxosAfterNewest()) pieces.push(piece.length)
    expect(pieces).toEqual([5_000, 5_000, 2_001])
    expect(await keys()).toEqual(many.map(({ reference }) => key(reference)).sort())
  })

  it('are refused by a closed store', async () => {
    await store.close()
    await expect(keys()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it.each([0, 1, 2])(
    'stay as they were when the read started, with %d transactions in the mempool',
    async (waiting) => {
      const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
      await store.applyGenesis(many)
      const spend = (name: string, ...indices: number[]) =>
        store.withLedger((ledger) => {
          const spent = indices.map((index) => outputOf('many', index))
          return ledger.apply({ transactions: [transaction(name, spent, [alice])] })
        })
      for (let n = 0; n < waiting; n += 1) await spend(`before ${n}`, 100 + n)
      const seen: string[] = []
      let round = 0
      for await (const piece of store.blocks.utxosAfterNewest()) {
        seen.push(...piece.map(key))
        // All of them are spent after the first piece, some were read before and some will be.
        round += 1
        await spend(`meanwhile ${round}`, round, count - round, 3_000 + round, 6_000 + round, 9_000 + round)
        await buildBlock(store, lease, `block ${round}`, round)
        if (round % 2 === 0) await store.blocks.returnToMempool(1n, lease)
      }
      expect(round).toBeGreaterThan(2)
      expect(seen.sort()).toEqual(many.map(({ reference }) => key(reference)).sort())
    },
  )

  it('are found by their references, whatever the mempool does', async () => {
    const pay = (name: string, spent: OutputReference) => transaction(name, [spent], [alice, alice])
    await store.applyGenesis([0, 5].map((index) => entry(outputOf('genesis', index), alice)))
    const references = [outputOf('genesis', 0), outputOf('genesis', 5), outputOf('1', 0), outputOf('2', 1)]
    const found = async () =>
      (await store.blocks.outputsAfterNewest(references))
        .map(({ reference, output }) => {
          expect(output).toEqual(entry(reference, alice).output)
          return references.findIndex((asked) => key(asked) === key(reference))
        })
        .sort()
    expect(await store.blocks.outputsAfterNewest([])).toEqual([])
    expect(await found()).toEqual([0, 1])
    const transactions = [pay('1', outputOf('genesis', 0)), pay('2', outputOf('1', 0))]
    await store.withLedger((ledger) => ledger.apply({ transactions }))
    expect(await found()).toEqual([0, 1])
    await buildBlock(store, lease, 'one', 1)
    expect(await found()).toEqual([1, 2])
    await buildBlock(store, lease, 'two', 1)
    expect(await found()).toEqual([1, 3])
  })
})

function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}
