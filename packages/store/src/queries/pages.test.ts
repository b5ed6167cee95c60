import { collect } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { LedgerEntry, StoredOutput } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, flushStatistics, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  hex,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const alice = walletOf('alice')
const bob = walletOf('bob')

async function sizes(pages: AsyncIterable<readonly unknown[]>): Promise<number[]> {
  const found: number[] = []
  for await (const page of pages) found.push(page.length)
  return found
}

/** An output of so many bytes. */
function large(name: string, size: number): LedgerEntry {
  return { ...entry(outputOf(name), alice), output: new Uint8Array(size).fill(7) }
}

describeBackends('pages of unspent outputs', (backend) => {
  let test: TestStore
  let store: Store

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
  })

  afterEach(() => test.drop())

  it('are none for an address without outputs', async () => {
    expect(await sizes(store.utxoPages(alice.address))).toEqual([])
  })

  it.each([
    [127, [127]],
    [128, [128]],
    [257, [128, 128, 1]],
  ])('have %d outputs in pages of at most 128, in order', async (count, pages) => {
    const outputs = Array.from({ length: count }, (_, n) => entry(outputOf(`${n}`), alice))
    await store.applyGenesis([...outputs, entry(outputOf('bob'), bob)])
    expect(await sizes(store.utxoPages(alice.address))).toEqual(pages)
    const expected = outputs.map(({ reference, output }) => ({ reference, output }))
    expect(await collect(store.utxoPages(alice.address))).toEqual(expected)
  })

  it('have at most 256 KiB of CBOR, but always one output', async () => {
    await store.applyGenesis([
      large('a', 100_000),
      large('b', 100_000),
      large('c', 100_000),
      large('d', 400_000),
      large('e', 10),
      large('f', 262_134),
    ])
    expect(await sizes(store.utxoPages(alice.address))).toEqual([2, 1, 1, 2])
  })

  it('stay as they were at the first page, whatever is spent, produced and built meanwhile', {
    timeout: 600_000,
  }, async () => {
    const plan = fc.record({
      outputs: fc.integer({ min: 1, max: 14 }),
      steps: fc.array(fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.boolean()), { maxLength: 4 }), {
        maxLength: 8,
      }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ outputs, steps }) => {
        const test = await backend.create()
        try {
          await compare(test.store, outputs, steps)
        } finally {
          await test.drop()
        }
      }),
      { numRuns: 20 },
    )
  })

  /** Compares pages of two outputs, with a batch of transactions before each page. */
  async function compare(
    store: Store,
    outputs: number,
    steps: readonly (readonly (readonly [spent: number, produced: number, toAlice: boolean])[])[],
  ): Promise<void> {
    const size = 120_000
    const genesis = Array.from({ length: outputs }, (_, n) => large(`genesis ${n}`, size))
    await store.applyGenesis(genesis)
    const lease = await takeLease(store)
    const unspent = genesis.map(({ reference }) => reference)

    async function step(number: number): Promise<void> {
      const plans = steps[number] ?? []
      const transactions = plans.flatMap(([spent, produced, toAlice], n) => {
        const [reference] = unspent.splice(spent % Math.max(unspent.length, 1), 1)
        if (reference === undefined) return []
        const made = transaction(
          `${number} ${n}`,
          [reference],
          Array.from({ length: produced }, () => (toAlice ? alice : bob)),
        )
        const grown = made.produced.map((entry) => ({ ...entry, output: new Uint8Array(size).fill(n) }))
        unspent.push(...grown.map(({ reference }) => reference))
        return [{ ...made, produced: grown }]
      })
      await store.withLedger((ledger) => ledger.apply({ transactions }))
      if (transactions.length > 0 && number % 2 === 1) await buildBlock(store, lease, `${number}`, 100)
    }

    let number = 0
    await step(number)
    const before = await collect(store.utxoPages(alice.address))
    const found: StoredOutput[] = []
    for await (const page of store.utxoPages(alice.address)) {
      found.push(...page)
      number += 1
      await step(number)
    }
    expect(keysOf(found)).toEqual(keysOf(before))
  }

  function keysOf(outputs: readonly StoredOutput[]): string[] {
    return outputs.map(
      ({ reference }) => `${Buffer.from(reference.transactionId).toString('hex')}#${reference.index}`,
    )
  }
})

describeBackends('pages of an address history', (backend) => {
  let test: TestStore
  let store: Store

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
  })

  afterEach(() => test.drop())

  /** Transactions of alice in the mempool, as fast as the database can; their CBOR is their number. */
  async function fill(from: number, count: number, bytes = 4): Promise<void> {
    await test.database.query(
      `WITH added AS (
        INSERT INTO ${test.schema}.mempool_transactions (sequence, event_sequence, transaction_id, cbor)
        SELECT n * 3, n * 3, sha256(('t' || n)::bytea), decode(lpad(to_hex(n), $3::integer * 2, '0'), 'hex')
        FROM generate_series($1::integer, $1::integer + $2::integer - 1) AS n
        RETURNING sequence
      )
      INSERT INTO ${test.schema}.address_history SELECT $4::bytea, sequence FROM added`,
      [from, count, bytes, alice.address],
    )
  }

  const numberOf = (cbor: Uint8Array) => Buffer.from(cbor).readUInt32BE(cbor.length - 4)
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

  it('have at most 500 transactions, in order', async () => {
    await fill(1, 1_203)
    expect(await sizes(store.historyPages(alice.address, { limit: 1_203, offset: 0 }))).toEqual([
      500, 500, 203,
    ])
    expect(await sizes(store.historyPages(alice.address, { limit: 700, offset: 100 }))).toEqual([500, 200])
    expect(await sizes(store.historyPages(alice.address, { limit: 5_000, offset: 1_000 }))).toEqual([203])
    const found = await collect(store.historyPages(alice.address, { limit: 700, offset: 100 }))
    expect(found.map(numberOf)).toEqual(numbers(101, 700))
  })

  it('have at most 256 KiB of CBOR, but always one transaction', async () => {
    await fill(1, 3, 100_000)
    await fill(4, 1, 300_000)
    await fill(5, 2)
    expect(await sizes(store.historyPages(alice.address, { limit: 100, offset: 0 }))).toEqual([2, 1, 1, 2])
    expect(await sizes(store.historyPages(alice.address, { limit: 2, offset: 1 }))).toEqual([2])
    expect(await sizes(store.historyPages(alice.address, { limit: 3, offset: 2 }))).toEqual([1, 1, 1])
  })

  it('start at any offset, also after more transactions and a reset', async () => {
    await fill(1, 35_000)
    const page = async (offset: number) =>
      (await collect(store.historyPages(alice.address, { limit: 3, offset }))).map(numberOf)
    const offsets = [0, 9_999, 10_000, 10_001, 20_000, 29_998, 30_000, 34_998]
    for (const offset of [...offsets, ...offsets.toReversed()]) {
      expect(await page(offset)).toEqual(numbers(offset + 1, Math.min(3, 35_000 - offset)))
    }
    expect(await page(35_000)).toEqual([])
    expect(await page(40_001)).toEqual([])
    expect(await page(Number.MAX_SAFE_INTEGER)).toEqual([])

    await fill(35_001, 10_000)
    expect(await page(40_001)).toEqual([40_002, 40_003, 40_004])

    await store.blocks.reset(await takeLease(store))
    expect(await page(10_000)).toEqual([])
    await fill(50_001, 12_000)
    expect(await page(10_000)).toEqual([60_001, 60_002, 60_003])
  })

  it('start where they should after transactions were dropped and others accepted', async () => {
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
    const chain = (names: readonly string[], first: string) =>
      names.map((name, n) => transaction(name, [outputOf(names[n - 1] ?? first)], [alice]))
    const names = numbers(0, 1_200).map(String)
    await store.withLedger((ledger) => ledger.apply({ transactions: chain(names, 'genesis') }))
    const page = () => collect(store.historyPages(alice.address, { limit: 2, offset: 1_010 }))
    const cborOf = (...names: readonly string[]) => names.map((name) => transaction(name, [], []).cbor)
    expect(await page()).toEqual(cborOf('1010', '1011'))

    const reason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: {} }
    const dropped = new Map(names.slice(900).map((name) => [hex(idOf(name)), reason] as const))
    await store.blocks.drop(dropped, () => undefined, await takeLease(store))
    expect(await page()).toEqual([])
    const others = numbers(0, 300).map((n) => `other ${n}`)
    await store.withLedger((ledger) => ledger.apply({ transactions: chain(others, '899') }))
    expect(await page()).toEqual(cborOf('other 110', 'other 111'))
  })

  it('do not show a transaction twice while it moves into a block', async () => {
    const lease = await takeLease(store)
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
    const chain = Array.from({ length: 6 }, (_, n) =>
      transaction(`${n}`, [outputOf(n === 0 ? 'genesis' : `${n - 1}`)], [alice]),
    ).map((made) => ({ ...made, cbor: new Uint8Array(140_000).fill(1) }))
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
    let built = 0
    const found: number[] = []
    for await (const page of store.historyPages(alice.address, { limit: 100, offset: 0 })) {
      found.push(page.length)
      if (built < 3) await buildBlock(store, lease, `${built++}`, 2)
    }
    expect(found).toEqual([1, 1, 1, 1, 1, 1])
  })
})

describeBackends('pages of block transactions', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease
  const ids = Array.from({ length: 4_500 }, (_, n) => idOf(`${n}`))

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    const transactions = ids.map((id) => ({ id, cbor: id, spent: [], produced: [] }))
    await store.withLedger((ledger) => ledger.apply({ transactions }))
    const { headerHash } = await buildBlock(store, lease, 'block', ids.length)
    await store.blocks.setState([headerHash], 'submitted', lease)
  })

  afterEach(() => test.drop())

  it('have at most 2,000 ids, in order', async () => {
    expect(await sizes(store.blockTransactionPages(headerHashOf('block')))).toEqual([2_000, 2_000, 500])
    expect(await collect(store.blockTransactionPages(headerHashOf('block')))).toEqual(ids)
    expect(await sizes(store.blockTransactionPages(headerHashOf('unknown')))).toEqual([])
  })

  it('end with an error if the block is removed between two pages', async () => {
    const read = async () => {
      for await (const _ of store.blockTransactionPages(headerHashOf('block'))) {
        await store.blocks.returnToMempool(1n, lease)
      }
    }
    await expect(read()).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    expect(await sizes(store.blockTransactionPages(headerHashOf('block')))).toEqual([])
  })
})

/** Rows at one address: the page that is read must not depend on them. */
const manyRows = Number(process.env.RATATOSK_ADDRESS_ROWS ?? 20_000)

describeBackends('pages of an address with many rows', (backend) => {
  let test: TestStore
  let store: Store

  beforeEach(async () => {
    test = await backend.create()
    store = await test.another({}, 1)
    const id = "sha256(('t' || n)::bytea)"
    await test.database.query(
      `INSERT INTO ${test.schema}.mempool_ledger (transaction_id, output_index, output, address, sequence)
      SELECT ${id}, 0, ${id}, CASE n % 2 WHEN 0 THEN $1::bytea ELSE $2::bytea END, n
      FROM generate_series(1, 2 * $3::integer) AS n`,
      [alice.address, bob.address, manyRows],
    )
    await test.database.query(
      `INSERT INTO ${test.schema}.mempool_transactions (sequence, event_sequence, transaction_id, cbor)
      SELECT n, n, ${id}, ${id} FROM generate_series(1, 2 * $1::integer) AS n`,
      [manyRows],
    )
    await test.database.query(
      `INSERT INTO ${test.schema}.address_history
      SELECT CASE n % 2 WHEN 0 THEN $1::bytea ELSE $2::bytea END, n
        FROM generate_series(1, 2 * $3::integer) AS n`,
      [alice.address, bob.address, manyRows],
    )
    // As autovacuum does.
    if (backend.name === 'PostgreSQL') {
      await test.database.query(`ANALYZE ${test.schema}.mempool_ledger, ${test.schema}.address_history`)
    }
  }, 300_000)

  afterEach(() => test.drop())

  /** Rows and index entries that statements of the store have read so far. */
  async function rowsRead(): Promise<number> {
    await flushStatistics({ ...test, store })
    const [row] = await test.database.query<{ count: bigint }>(
      `SELECT (
        (SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE schemaname = $1)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = $1)
      )::bigint AS count`,
      [test.schema],
    )
    return Number(row!.count)
  }

  it('read little more than what they return', { timeout: 300_000 }, async () => {
    let [count, largest, before] = [0, 0, await rowsRead()]
    for await (const page of store.utxoPages(alice.address)) {
      count += page.length
      const after = await rowsRead()
      largest = Math.max(largest, after - before)
      before = after
    }
    expect(count).toBe(manyRows)
    expect(largest).toBeLessThan(4 * 500)
  })

  it('start at any depth for the same price, once it is known', { timeout: 300_000 }, async () => {
    const read = async (offset: number) => {
      const before = await rowsRead()
      const page = await collect(store.historyPages(alice.address, { limit: 100, offset }))
      expect(page.length).toBe(Math.min(100, manyRows - offset))
      return (await rowsRead()) - before
    }
    await read(manyRows - 1)
    for (const share of [0.999, 0.5, 0.1, 0]) {
      expect(await read(Math.floor((manyRows - 1) * share))).toBeLessThan(4 * 1_100)
    }
  })
})
