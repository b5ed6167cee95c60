import { IndexError } from './errors.js'
import type { IndexConnection, IndexDatabase } from './types.js'

/** Raise it with every change of the tables or of what they hold: an index of another version is rebuilt. */
const version = 1

const names = ['outputs', 'assets', 'mints', 'transactions', 'preimages', 'preimage_uses'] as const

/**
 * The tables, in the schema `s`. `owner` is the payment credential, or for a Byron address the address
 * itself. `sequence` is the accept sequence of the producing transaction and `spent_by` that of the spending
 * one.
 */
const create = [
  `CREATE TABLE s.progress (
    id integer PRIMARY KEY CHECK (id = 1),
    version integer NOT NULL,
    sequence bigint NOT NULL,
    drop_number bigint NOT NULL,
    genesis boolean NOT NULL
  )`,
  `CREATE TABLE s.transactions (
    sequence bigint PRIMARY KEY,
    transaction_id bytea NOT NULL UNIQUE,
    valid boolean NOT NULL
  )`,
  `CREATE TABLE s.outputs (
    transaction_id bytea NOT NULL,
    output_index integer NOT NULL,
    sequence bigint NOT NULL,
    owner bytea NOT NULL,
    address bytea NOT NULL,
    stake_credential bytea,
    output bytea NOT NULL,
    spent_by bigint,
    PRIMARY KEY (transaction_id, output_index)
  )`,
  'CREATE INDEX ON s.outputs (sequence, output_index)',
  'CREATE INDEX ON s.outputs (spent_by) WHERE spent_by IS NOT NULL',
  'CREATE INDEX ON s.outputs (owner, sequence, output_index)',
  'CREATE INDEX ON s.outputs (owner, sequence, output_index) WHERE spent_by IS NULL',
  'CREATE INDEX ON s.outputs (owner, spent_by) WHERE spent_by IS NOT NULL',
  'CREATE INDEX ON s.outputs (stake_credential, sequence, output_index) WHERE stake_credential IS NOT NULL',
  `CREATE TABLE s.assets (
    transaction_id bytea NOT NULL,
    output_index integer NOT NULL,
    policy bytea NOT NULL,
    name bytea NOT NULL,
    sequence bigint NOT NULL,
    spent_by bigint,
    PRIMARY KEY (transaction_id, output_index, policy, name)
  )`,
  'CREATE INDEX ON s.assets (spent_by) WHERE spent_by IS NOT NULL',
  'CREATE INDEX ON s.assets (policy, name, sequence, output_index)',
  'CREATE INDEX ON s.assets (policy, name, sequence, output_index) WHERE spent_by IS NULL',
  'CREATE INDEX ON s.assets (policy, name, spent_by) WHERE spent_by IS NOT NULL',
  `CREATE TABLE s.mints (
    policy bytea NOT NULL,
    name bytea NOT NULL,
    sequence bigint NOT NULL,
    quantity numeric NOT NULL,
    PRIMARY KEY (policy, name, sequence)
  )`,
  'CREATE INDEX ON s.mints (sequence)',
  // Datums, whose language is NULL, and scripts. Content may occur in many transactions: it is kept while one
  // of them is.
  `CREATE TABLE s.preimages (
    hash bytea PRIMARY KEY,
    language text,
    bytes bytea NOT NULL
  )`,
  `CREATE TABLE s.preimage_uses (
    hash bytea NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (hash, sequence)
  )`,
  'CREATE INDEX ON s.preimage_uses (sequence)',
]

/** How far the index has followed. */
export interface Progress {
  readonly sequence: bigint
  readonly dropNumber: bigint
  /** Whether it has the genesis outputs. */
  readonly genesis: boolean
}

export const start: Progress = { sequence: 0n, dropNumber: 0n, genesis: false }

/** @throws IndexError `INDEX_CONFIGURATION` */
export function quoteSchema(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) return `"${schema}"`
  throw new IndexError(
    'INDEX_CONFIGURATION',
    'The schema must be a plain identifier: up to 63 of a-z, 0-9 and _, not starting with a digit',
  )
}

/** Creates the schema and its tables, or anew if another version has made them; one process at a time. */
export async function prepareTables(database: IndexDatabase, schema: string): Promise<void> {
  await database.transaction(async (connection) => {
    await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `ratatosk index ${schema}`,
    ])
    const [found] = await connection.query<{ schema: boolean; progress: boolean }>(
      `SELECT to_regnamespace($1) IS NOT NULL AS schema, to_regclass($1 || '.progress') IS NOT NULL AS progress`,
      [schema],
    )
    if (found?.progress) {
      const [row] = await connection.query<{ version: number }>(`SELECT version FROM ${schema}.progress`)
      if (row?.version === version) return
    }
    // Not CREATE SCHEMA IF NOT EXISTS, which a user without the privilege to create schemas may not run.
    if (!found?.schema) await connection.query(`CREATE SCHEMA ${schema}`)
    for (const name of ['progress', ...names]) {
      await connection.query(`DROP TABLE IF EXISTS ${schema}.${name}`)
    }
    for (const statement of create) await connection.query(statement.replaceAll(' s.', ` ${schema}.`))
    await connection.query(
      `INSERT INTO ${schema}.progress (id, version, sequence, drop_number, genesis) VALUES (1, $1, 0, 0, false)`,
      [version],
    )
  })
}

/** Deletes every row. DELETE, unlike TRUNCATE, blocks no reader. */
export async function emptyTables(connection: IndexConnection, schema: string): Promise<void> {
  for (const name of names) await connection.query(`DELETE FROM ${schema}.${name}`)
}

export async function readProgress(connection: IndexConnection, schema: string): Promise<Progress> {
  return rowOf(await connection.query<ProgressRow>(`SELECT ${progressList} FROM ${schema}.progress`))
}

/**
 * Settings for a step. It looks up rows by key: when a table has grown since it was last analysed, the
 * planner would scan all of it. And nobody waits for its commit: a database that fails loses at most the last
 * steps, with their progress.
 */
const stepSettings = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit', 'synchronous_commit']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')

/** Waits until no other process changes the index, until the transaction ends. */
export async function lockProgress(connection: IndexConnection, schema: string): Promise<Progress> {
  await connection.query(`SELECT ${stepSettings}`)
  return rowOf(
    await connection.query<ProgressRow>(`SELECT ${progressList} FROM ${schema}.progress FOR UPDATE`),
  )
}

export async function writeProgress(
  connection: IndexConnection,
  schema: string,
  { sequence, dropNumber, genesis }: Progress,
): Promise<void> {
  await connection.query(
    `UPDATE ${schema}.progress SET sequence = $1, drop_number = $2, genesis = $3::boolean`,
    [sequence, dropNumber, String(genesis)],
  )
}

interface ProgressRow {
  readonly sequence: bigint
  readonly drop_number: bigint
  readonly genesis: boolean
}

const progressList = 'sequence, drop_number, genesis'

function rowOf([row]: readonly ProgressRow[]): Progress {
  if (row === undefined) throw new IndexError('INDEX_DIVERGED', 'The index has lost its progress')
  return { sequence: row.sequence, dropNumber: row.drop_number, genesis: row.genesis }
}
