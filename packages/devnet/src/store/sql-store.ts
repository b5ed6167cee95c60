import { fromHex, toHex } from '@ratatosk/ledger'
import { DevnetError } from '../errors.js'
import type { DevnetStore } from './types.js'

/** PostgreSQL, as `pg`'s Pool and PGlite both are: one statement with `$1` parameters in, rows out. */
export interface SqlConnection {
  query(statement: string, parameters?: unknown[]): Promise<{ rows: unknown[] }>
}

export interface SqlStoreOptions {
  readonly connection: SqlConnection
  /** The database schema of the devnet's own tables. Default `devnet`. */
  readonly schema?: string
}

/** Texts and numbers only, which every driver hands over alike. */
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
 * Keeps the chain in PostgreSQL or PGlite, in tables of its own. Every change is one statement, so that it needs no
 * transaction of the connection and is there whole or not at all.
 *
 * @throws {DevnetError} `DEVNET_CONFIGURATION` on a schema name that is no plain identifier
 * @example
 * const store = createSqlStore({ connection: await PGlite.create('.ratatosk/devnet') })
 */
export function createSqlStore({ connection, schema = 'devnet' }: SqlStoreOptions): DevnetStore {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new DevnetError('DEVNET_CONFIGURATION', `The schema name "${schema}" is no plain identifier`)
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
      const [begun] = await rows<{ hash: string }>(`SELECT hash FROM ${schema}.genesis`)
      const blocks = await rows<BlockRow>(
        `SELECT height, slot::text, encode(hash, 'hex') AS hash, encode(previous, 'hex') AS previous, transactions
         FROM ${schema}.blocks ORDER BY height`,
      )
      const transactions = await rows<TransactionRow>(
        `SELECT encode(hash, 'hex') AS hash, encode(cbor, 'hex') AS cbor, sequence::text
         FROM ${schema}.transactions ORDER BY sequence`,
      )
      return {
        genesis: begun?.hash ?? genesis,
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

    async addBlock({ height, slot, hash, previous, transactions }, { dropped, forgotten }) {
      await rows(
        `WITH dropped AS (
           DELETE FROM ${schema}.transactions WHERE hash IN (${hashesIn('$6')})
         ), forgotten AS (
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
          forgotten,
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

/** A JSON text of hex hashes as rows: arrays of bytea are a matter in which drivers differ. */
function hashesIn(parameter: string): string {
  return `SELECT decode(value, 'hex') FROM json_array_elements_text(${parameter}::text::json)`
}
