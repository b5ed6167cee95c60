// A ledger after many transactions, written by SQL in the shape in which the node leaves it: each transaction
// has spent an output and made two, of which one is spent. All are in merged blocks but the last 5,000, which
// are in the mempool.
import { createHash } from 'node:crypto'

const blockSize = 10_000
const mempool = 5_000
const rowsAtOnce = 500_000

const sha256 = (text) => createHash('sha256').update(text).digest()
const addressNamed = (name) => Buffer.concat([Buffer.from([0x60]), sha256(name).subarray(0, 28)])

/**
 * @param {object} options
 * @param {number} options.size transactions, and unspent outputs
 * @param {number} options.share of the outputs, those of one address; the others have about ten for each
 *   address
 * @param {string} options.schema which a store has migrated
 */
export function createLedgerOfSize({ size, share, schema }) {
  const every = Math.round(1 / share)
  // Odd, so that every one of them gets outputs, whatever the share.
  const addresses = Math.floor(size / 10) + 1
  const inMempool = Math.min(mempool, size / 2)
  const inBlocks = size - inMempool
  const at = `"${schema}"`
  const id = (n) => `sha256(convert_to('t' || (${n}), 'UTF8'))`
  const address = (n) =>
    `('\\x60'::bytea || substr(sha256(convert_to(CASE WHEN (${n}) % ${every} = 0 THEN 'shared' ` +
    `ELSE 'a' || (((${n})::bigint * 7919) % ${addresses}) END, 'UTF8')), 1, 28))`
  const output = (n) => `('\\xa200581d'::bytea || ${address(n)} || '\\x011a003d0900'::bytea)`
  const hash512 = (n, salt) => `sha512(convert_to('${salt}' || (${n}), 'UTF8'))`
  /** As long as a transfer. */
  const cbor = (n) =>
    `(${id(n)} || ${['x', 'y', 'z'].map((salt) => hash512(n, salt)).join(' || ')} || '\\x00'::bytea)`

  return {
    /** How many outputs the one address has. */
    shared: Math.floor(size / every),
    /** In how many transactions it is, at least. */
    touched: Math.floor(size / every),
    sharedAddress: addressNamed('shared'),
    transactionId: (random) => sha256(`t${1 + random(size)}`),
    addressOf: (random) => addressNamed(`a${random(addresses)}`),

    async fill(client) {
      await client.query(`INSERT INTO ${at}.blocks (state, height, header_hash, header,
        previous_header_hash, utxos_root, start_time, end_time,
          first_sequence, last_sequence, transactions, commit_transaction_id, commit_transaction,
            submitted_at, committed_at, matured_at, merged_at)
        SELECT 'merged', h, substr(${hash512('h', 'b')}, 1, 28), ${hash512('h', 'h')},
          substr(${hash512('h - 1', 'b')}, 1, 28), ${id('h')},
          h * 1000, h * 1000 + 1000, (h - 1) * ${blockSize} + 1, least(h * ${blockSize}, ${inBlocks}),
          least(h * ${blockSize}, ${inBlocks}) - (h - 1) * ${blockSize}, ${id('h')}, ${hash512('h', 'c')},
            now(), now(), now(), now()
        FROM generate_series(1, ${Math.ceil(inBlocks / blockSize)}) AS h`)
      await client.query(`INSERT INTO ${at}.mempool_transactions
        (sequence, event_sequence, transaction_id, cbor)
        SELECT n, n, ${id('n')}, ${cbor('n')} FROM generate_series(${inBlocks + 1}, ${size}) AS n`)
      for (let from = 1; from <= size; from += rowsAtOnce) {
        const to = Math.min(from + rowsAtOnce - 1, size)
        await client.query(`INSERT INTO ${at}.block_transactions (block_id, position, sequence,
          event_sequence, transaction_id, cbor, accepted_at)
          SELECT b.id, n - b.first_sequence + 1, n, n, ${id('n')}, ${cbor('n')}, now()
          FROM generate_series(${from}, ${Math.min(to, inBlocks)}) AS n
          JOIN ${at}.blocks AS b ON b.height = (n - 1) / ${blockSize} + 1`)
        await client.query(`INSERT INTO ${at}.mempool_ledger (transaction_id, output_index, output,
          address, sequence)
          SELECT ${id('n')}, 0, ${output('n')}, ${address('n')}, n FROM generate_series(${from}, ${to}) AS n`)
        await client.query(`INSERT INTO ${at}.address_history
          SELECT DISTINCT address, sequence FROM (
            SELECT ${address('n')}, n FROM generate_series(${from}, ${to}) AS n
            UNION ALL SELECT ${address('n + 3')}, n FROM generate_series(${from}, ${to}) AS n
          ) AS touched (address, sequence)`)
      }
      await client.query(`SELECT setval('${at}.accept_sequence', ${size})`)
      for (const table of [
        'blocks',
        'mempool_transactions',
        'block_transactions',
        'mempool_ledger',
        'address_history',
      ])
        await client.query(`VACUUM ANALYZE ${at}.${table}`)
    },
  }
}
