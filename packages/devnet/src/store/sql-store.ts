import { fromHex, toHex } from '@ratatosk/cbor'
import { DevnetError } from '../errors.js'
import type { DevnetStore } from './types.js'

/** A PostgreSQL connection: a `Pool` of `pg`, a PGlite instance, or anything with the same `query`. */
export interface SqlConnection {
  /** Runs one statement with `$1`-style parameters. */
  query(statement: string, parameters?: unknown[]): Promise<{ rows: unknown[] }>
}

/** Options of {@link createSqlStore}. */
export interface SqlStoreOptions {
  readonly connection: SqlConnection
  /** Database schema for the tables, created if missing: a lower-case identifier. Default `devnet`. */
  readonly schema?: string
}

/** Text and integers only: drivers disagree about other types. */
interface BlockRow {
  readonly height: number
  readonly slot: string
  readonly hash: string
  readonly previous: string
  readonly transactions: readonly string[]
}

interface TransactionRow {
  readonly hash: string
  readonly cbor: string
  readonly sequence: string
}

/**
 * Keeps the chain in PostgreSQL or PGlite. Every change is a single statement and therefore atomic without a
 * transaction on the connection.
 *
 * @throws {DevnetError} `DEVNET_CONFIGURATION` if the schema name is not a lower-case identifier
 * @example
 * ```ts
 * const store = createSqlStore({ connection: await PGlite.create('.ratatosk/devnet') })
 * ```
 */
export function createSqlStore({ connection, schema = 'devnet' }: SqlStoreOptions): DevnetStore {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new DevnetError(
      'DEVNET_CONFIGURATION',
      `Invalid schema name "${schema}": use lower-case letters, digits and underscores`,
    )
  }

  async function rows<Row>(statement: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await connection.query(statement, parameters)).rows as Row[]
  }

  async function createTables(): Promise<void> {
    await rows(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await rows(`CREATE TABLE IF NOT EXISTS ${schema}.genesis (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      hash text NOT NULL
    )`)
    await rows(`CREATE TABLE IF NOT EXISTS ${schema}.blocks (
      height integer PRIMARY KEY,
      slot bigint NOT NULL,
      hash bytea NOT NULL,
      previous bytea NOT NULL,
      transactions json NOT NULL
    )`)
    await rows(`CREATE TABLE IF NOT EXISTS ${schema}.transactions (
      hash bytea PRIMARY KEY,
      cbor bytea NOT NULL,
      sequence bigint NOT NULL
    )`)
  }

  return {
    async open(genesis) {
      await createTables()
      await rows(`INSERT INTO ${schema}.genesis (hash) VALUES ($1) ON CONFLICT DO NOTHING`, [genesis])
      const [recorded] = await rows<{ hash: string }>(`SELECT hash FROM ${schema}.genesis`)
      const blocks = await rows<BlockRow>(
        `SELECT height, slot::text, encode(hash, 'hex') AS hash, encode(previous, 'hex') AS previous, transactions
         FROM ${schema}.blocks ORDER BY height`,
      )
      const transactions = await rows<TransactionRow>(
        `SELECT encode(hash, 'hex') AS hash, encode(cbor, 'hex') AS cbor, sequence::text
         FROM ${schema}.transactions ORDER BY sequence`,
      )
      return {
        genesis: recorded?.hash ?? genesis,
        chain: {
          blocks: blocks.map((block) => ({ ...block, slot: BigInt(block.slot) })),
          transactions: transactions.map(({ hash, cbor, sequence }) => ({
            hash,
            cbor: fromHex(cbor),
            sequence: Number(sequence),
          })),
        },
      }
    },

    async addTransaction({ hash, cbor, sequence }) {
      await rows(
        `INSERT INTO ${schema}.transactions (hash, cbor, sequence) VALUES (decode($1, 'hex'), decode($2, 'hex'), $3)`,
        [hash, toHex(cbor), sequence],
      )
    },

    async addBlock({ height, slot, hash, previous, transactions }, { dropped, prunable }) {
      await rows(
        `WITH dropped AS (
           DELETE FROM ${schema}.transactions WHERE hash IN (${hashesIn('$6')})
         ), pruned AS (
           DELETE FROM ${schema}.blocks WHERE height = $7 AND json_array_length(transactions) = 0
         )
         INSERT INTO ${schema}.blocks (height, slot, hash, previous, transactions)
         VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), $5::text::json)`,
        [
          height,
          String(slot),
          hash,
          previous,
          JSON.stringify(transactions),
          JSON.stringify(dropped),
          prunable,
        ],
      )
    },

    async removeBlocks(above, dropped) {
      await rows(
        `WITH dropped AS (
           DELETE FROM ${schema}.transactions WHERE hash IN (${hashesIn('$2')})
         )
         DELETE FROM ${schema}.blocks WHERE height > $1`,
        [above, JSON.stringify(dropped)],
      )
    },
  }
}

/** Turns a JSON array of hex hashes into rows: drivers disagree about bytea arrays. */
function hashesIn(parameter: string): string {
  return `SELECT decode(value, 'hex') FROM json_array_elements_text(${parameter}::text::json)`
}
