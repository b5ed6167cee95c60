import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../store.js'
import { describeBackends, flushStatistics, type TestStore } from '../test/backends.js'
import { walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const bob = walletOf('bob')

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
