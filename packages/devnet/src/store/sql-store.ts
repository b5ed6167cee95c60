import { fromHex, toHex } from '@ratatosk/cbor'
import {
  bytea,
  bytesColumn,
  type Computed,
  type Executor,
  inSchema,
  int4,
  int8,
  parameterRows,
  quoteSchema,
  type SharedDriver,
  schema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import type { DevnetStore } from './store.js'

/** Options of {@link createSqlStore}. */
export interface SqlStoreOptions {
  /** `openPGlite` and `openPostgres` of `@ratatosk/database` open one. */
  readonly database: SharedDriver
  /** Database schema for the tables, created if missing: a lower-case identifier. Default `devnet`. */
  readonly schema?: string
}

const createTables = [
  sql`CREATE SCHEMA IF NOT EXISTS ${schema}`,
  sql`CREATE TABLE IF NOT EXISTS ${schema}.genesis (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    hash text NOT NULL,
    ledger_version integer NOT NULL
  )`,
  sql`CREATE TABLE IF NOT EXISTS ${schema}.blocks (
    height integer PRIMARY KEY,
    slot bigint NOT NULL,
    hash bytea NOT NULL,
    previous bytea NOT NULL,
    transactions json NOT NULL
  )`,
  sql`CREATE TABLE IF NOT EXISTS ${schema}.transactions (
    hash bytea PRIMARY KEY,
    cbor bytea NOT NULL,
    sequence bigint NOT NULL
  )`,
]

const recordGenesis = sql`
  INSERT INTO ${schema}.genesis (hash, ledger_version) VALUES ($1, $2) ON CONFLICT DO NOTHING`
const recordedGenesis = statement(
  { genesis: text, ledgerVersion: int4 },
  sql`SELECT hash AS genesis, ledger_version AS "ledgerVersion" FROM ${schema}.genesis`,
)

const ids: Computed<readonly string[]> = { sqlType: 'json' }
const everyBlock = statement(
  { height: int4, slot: int8, hash: bytea, previous: bytea, transactions: ids },
  sql`SELECT height, slot, hash, previous, transactions FROM ${schema}.blocks ORDER BY height`,
)
const everyTransaction = statement(
  { hash: bytea, cbor: bytea, sequence: int8 },
  sql`SELECT hash, cbor, sequence FROM ${schema}.transactions ORDER BY sequence`,
)

const insertTransaction = sql`INSERT INTO ${schema}.transactions (hash, cbor, sequence) VALUES ($1, $2, $3)`

const deleteTransactions = (first: number) => sql`
  DELETE FROM ${schema}.transactions
  WHERE hash IN (SELECT hash FROM ${parameterRows({ hash: 'bytea' }, first)} AS dropped)`

const insertBlock = sql`
  WITH dropped AS (${deleteTransactions(6)}), pruned AS (
    DELETE FROM ${schema}.blocks WHERE height = $7 AND json_array_length(transactions) = 0
  )
  INSERT INTO ${schema}.blocks (height, slot, hash, previous, transactions) VALUES ($1, $2, $3, $4, $5::json)`

const deleteBlocks = sql`
  WITH dropped AS (${deleteTransactions(2)}) DELETE FROM ${schema}.blocks WHERE height > $1`

/**
 * Keeps the chain in PostgreSQL or PGlite. Every change is a single statement and therefore atomic.
 *
 * @throws {DatabaseError} `DATABASE_CONFIGURATION` if the schema name is not a lower-case identifier
 * @example
 * ```ts
 * const store = createSqlStore({ database: openPGlite(await PGlite.create('.ratatosk/devnet')) })
 * ```
 */
export function createSqlStore(options: SqlStoreOptions): DevnetStore {
  const database = inSchema(options.database, quoteSchema(options.schema ?? 'devnet'))

  return {
    async open(genesis, ledgerVersion) {
      for (const table of createTables) await database.execute(table)
      await database.execute(recordGenesis, [genesis, ledgerVersion])
      const [recorded] = await database.query(recordedGenesis)
      const blocks = await database.query(everyBlock)
      const transactions = await database.query(everyTransaction)
      return {
        ...(recorded ?? { genesis, ledgerVersion }),
        chain: {
          blocks: blocks.map(({ hash, previous, ...block }) => ({
            ...block,
            hash: toHex(hash),
            previous: toHex(previous),
          })),
          transactions: transactions.map(({ hash, cbor, sequence }) => ({
            hash: toHex(hash),
            cbor,
            sequence: Number(sequence),
          })),
        },
      }
    },

    async addTransaction({ hash, cbor, sequence }) {
      await database.execute(insertTransaction, [fromHex(hash), cbor, sequence])
    },

    async addBlock({ height, slot, hash, previous, transactions }, { dropped, prunable }) {
      await database.execute(insertBlock, [
        height,
        slot,
        fromHex(hash),
        fromHex(previous),
        JSON.stringify(transactions),
        bytesColumn(dropped.map(fromHex)),
        prunable,
      ])
    },

    async removeBlocks(above, dropped) {
      await database.execute(deleteBlocks, [above, bytesColumn(dropped.map(fromHex))])
    },
  }
}

/**
 * Whether a stored chain has a transaction whose CBOR contains these bytes. It changes nothing.
 *
 * @param executor runs SQL where the tables are
 * @param name of the schema; false if it has no chain
 * @example
 * await storedChainHas(openPGlite(pglite), 'devnet', policyId)
 */
export async function storedChainHas(executor: Executor, name: string, bytes: Uint8Array): Promise<boolean> {
  const table = `${quoteSchema(name)}.transactions`
  const one = (text: string, parameter: string | Uint8Array) => executor.run(text, [parameter])
  const chain = await one('SELECT WHERE to_regclass($1) IS NOT NULL', table)
  if (chain.rows.length === 0) return false
  const found = await one(`SELECT FROM ${table} WHERE position($1::bytea IN cbor) > 0 LIMIT 1`, bytes)
  return found.rows.length > 0
}
