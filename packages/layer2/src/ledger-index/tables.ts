import {
  advisoryLock,
  bool,
  type Connection,
  type Database,
  int4,
  int8,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { Progress } from './types.js'

/**
 * - `INDEX_BEHIND`: the index does not yet have what was asked for. Try again later.
 * - `INDEX_DIVERGED`: what was accepted contradicts the index, which is then rebuilt.
 * - `INDEX_GENESIS`: the ledger was started with other genesis outputs than those given.
 * - `INDEX_CLOSED`: used after `close()`.
 */
export type IndexErrorCode = 'INDEX_BEHIND' | 'INDEX_DIVERGED' | 'INDEX_GENESIS' | 'INDEX_CLOSED'

/** A failure of the index itself. Failures of the database pass through unchanged. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
  readonly code: IndexErrorCode

  constructor(code: IndexErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Whether a value is an {@link IndexError}, also of another copy of this package. */
export function isIndexError(error: unknown): error is IndexError {
  return error instanceof Error && error.name === 'IndexError'
}

/** Raise it with every change of the tables or of what they hold: an index of another version is rebuilt. */
const version = 7

const names = [
  'outputs',
  'assets',
  'mints',
  'labels',
  'redeemers',
  'withdrawals',
  'transactions',
  'totals',
  'preimages',
  'preimage_uses',
] as const

/** The totals of a chunk are those of 2^12 sequences. */
export const chunkBits = 12

/**
 * The tables. `owner` is the payment credential or a Byron address; `sequence` and `spent_by` are accept
 * sequences. A mint is the `nth` of its asset and leaves `total`: one row however often it was minted. Lists
 * of assets and labels read only first ones. A mint is `described` by metadata of label 721. A deposit has
 * no fee.
 */
const create = [
  sql`CREATE TABLE ${schema}.progress (
    id integer PRIMARY KEY CHECK (id = 1),
    version integer NOT NULL,
    sequence bigint NOT NULL,
    drop_number bigint NOT NULL,
    genesis boolean NOT NULL
  )`,
  sql`CREATE TABLE ${schema}.transactions (
    sequence bigint PRIMARY KEY,
    transaction_id bytea NOT NULL UNIQUE,
    valid boolean NOT NULL,
    output bigint,
    fee bigint
  )`,
  // Sums over many transactions are read from these.
  sql`CREATE TABLE ${schema}.totals (
    chunk bigint PRIMARY KEY,
    transactions bigint NOT NULL,
    output numeric NOT NULL,
    fees numeric NOT NULL
  )`,
  sql`CREATE TABLE ${schema}.outputs (
    transaction_id bytea NOT NULL,
    output_index integer NOT NULL,
    sequence bigint NOT NULL,
    owner bytea NOT NULL,
    address bytea NOT NULL,
    stake_credential bytea,
    reference_script bytea,
    output bytea NOT NULL,
    spent_by bigint,
    PRIMARY KEY (transaction_id, output_index)
  )`,
  sql`CREATE INDEX ON ${schema}.outputs (sequence, output_index)`,
  sql`CREATE INDEX ON ${schema}.outputs (spent_by) WHERE spent_by IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (owner, sequence, output_index)`,
  sql`CREATE INDEX ON ${schema}.outputs (owner, sequence, output_index) WHERE spent_by IS NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (owner, spent_by) WHERE spent_by IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (stake_credential, sequence, output_index)
    WHERE stake_credential IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (stake_credential, sequence, output_index)
    WHERE stake_credential IS NOT NULL AND spent_by IS NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (reference_script, sequence, output_index)
    WHERE reference_script IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.outputs (reference_script, sequence, output_index)
    WHERE reference_script IS NOT NULL AND spent_by IS NULL`,
  sql`CREATE TABLE ${schema}.assets (
    transaction_id bytea NOT NULL,
    output_index integer NOT NULL,
    policy bytea NOT NULL,
    name bytea NOT NULL,
    sequence bigint NOT NULL,
    spent_by bigint,
    PRIMARY KEY (transaction_id, output_index, policy, name)
  )`,
  sql`CREATE INDEX ON ${schema}.assets (spent_by) WHERE spent_by IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.assets (policy, name, sequence, output_index)`,
  sql`CREATE INDEX ON ${schema}.assets (policy, name, sequence, output_index) WHERE spent_by IS NULL`,
  sql`CREATE INDEX ON ${schema}.assets (policy, name, spent_by) WHERE spent_by IS NOT NULL`,
  sql`CREATE INDEX ON ${schema}.assets (policy, sequence, output_index)`,
  sql`CREATE INDEX ON ${schema}.assets (policy, sequence, output_index) WHERE spent_by IS NULL`,
  sql`CREATE TABLE ${schema}.mints (
    policy bytea NOT NULL,
    name bytea NOT NULL,
    sequence bigint NOT NULL,
    quantity numeric NOT NULL,
    total numeric NOT NULL,
    nth integer NOT NULL,
    described boolean NOT NULL,
    PRIMARY KEY (policy, name, sequence)
  )`,
  sql`CREATE INDEX ON ${schema}.mints (policy, name, sequence) WHERE described`,
  sql`CREATE INDEX ON ${schema}.mints (sequence)`,
  sql`CREATE INDEX ON ${schema}.mints (sequence, policy, name) WHERE nth = 1`,
  sql`CREATE INDEX ON ${schema}.mints (policy, sequence, name) WHERE nth = 1`,
  // The labels of metadata, integers of 64 bits without sign.
  sql`CREATE TABLE ${schema}.labels (
    label numeric NOT NULL,
    sequence bigint NOT NULL,
    nth integer NOT NULL,
    PRIMARY KEY (label, sequence)
  )`,
  sql`CREATE INDEX ON ${schema}.labels (label, sequence) WHERE nth = 1`,
  sql`CREATE INDEX ON ${schema}.labels (sequence)`,
  // Those of valid transactions; each is the `nth` of its transaction, and `data` the hash of its data.
  sql`CREATE TABLE ${schema}.redeemers (
    script bytea NOT NULL,
    sequence bigint NOT NULL,
    nth integer NOT NULL,
    purpose text NOT NULL,
    pointer integer NOT NULL,
    data bytea NOT NULL,
    memory bigint NOT NULL,
    steps bigint NOT NULL,
    PRIMARY KEY (script, sequence, nth)
  )`,
  sql`CREATE INDEX ON ${schema}.redeemers (sequence)`,
  // Layer 2 has no rewards: each takes nothing, and is there for its script to run.
  sql`CREATE TABLE ${schema}.withdrawals (
    stake_credential bytea NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (stake_credential, sequence)
  )`,
  sql`CREATE INDEX ON ${schema}.withdrawals (sequence)`,
  // Datums, whose language is NULL, and scripts. Content may occur in many transactions: it is kept while one
  // of them is. `sequence` is the first one.
  sql`CREATE TABLE ${schema}.preimages (
    hash bytea PRIMARY KEY,
    language text,
    bytes bytea NOT NULL,
    sequence bigint NOT NULL
  )`,
  sql`CREATE INDEX ON ${schema}.preimages (sequence, hash) WHERE language IS NOT NULL`,
  sql`CREATE TABLE ${schema}.preimage_uses (
    hash bytea NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (hash, sequence)
  )`,
  sql`CREATE INDEX ON ${schema}.preimage_uses (sequence)`,
]

export const start: Progress = { sequence: 0n, dropNumber: 0n, genesis: false }

const found = statement(
  { schema: bool, progress: bool },
  sql`SELECT to_regnamespace($1) IS NOT NULL AS schema,
    to_regclass($1 || '.progress') IS NOT NULL AS progress`,
)

const storedVersion = statement({ version: int4 }, sql`SELECT version FROM ${schema}.progress`)

const createProgress = sql`
  INSERT INTO ${schema}.progress (id, version, sequence, drop_number, genesis) VALUES (1, $1, 0, 0, false)`

/** Creates the schema and its tables, or anew if another version has made them; one process at a time. */
export async function prepareTables(database: Database): Promise<void> {
  await database.transaction(async (connection) => {
    await advisoryLock(connection, 'index')
    const [state] = await connection.query(found, [connection.schema])
    if (state?.progress) {
      const [row] = await connection.query(storedVersion)
      if (row?.version === version) return
    }
    // Not CREATE SCHEMA IF NOT EXISTS, which a user without the privilege to create schemas may not run.
    if (!state?.schema) await connection.execute(sql`CREATE SCHEMA ${schema}`)
    for (const name of ['progress', ...names]) {
      await connection.execute(sql`DROP TABLE IF EXISTS ${schema}.${name}`)
    }
    for (const table of create) await connection.execute(table)
    await connection.execute(createProgress, [version])
  })
}

const emptyStatements = names.map((name) => sql`DELETE FROM ${schema}.${name}`)

/** Deletes every row. DELETE, unlike TRUNCATE, blocks no reader. */
export async function emptyTables(connection: Connection): Promise<void> {
  for (const statement of emptyStatements) await connection.execute(statement)
}

const progressRow = { sequence: int8, dropNumber: int8, genesis: bool }
const progressOf = (rest = '') =>
  statement(
    progressRow,
    sql`SELECT sequence, drop_number AS "dropNumber", genesis FROM ${schema}.progress ${rest}`,
  )
const current = progressOf()
const locked = progressOf('FOR UPDATE')

export async function readProgress(connection: Connection): Promise<Progress> {
  return onlyRow(await connection.query(current))
}

/**
 * Settings for a step. It reads rows by key, where stale statistics would make the planner scan. No caller
 * waits for its commit: a crash loses the last steps, with their progress.
 */
const stepSettings = sql`SELECT ${[
  'enable_seqscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
  'synchronous_commit',
]
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')}`

const flushAtCommit = sql`SELECT set_config('synchronous_commit', 'on', true)`

/**
 * Keeps other processes from changing the index until the transaction ends.
 *
 * @param flush whether its commit is flushed, and so sent to replicas, at once
 */
export async function lockProgress(connection: Connection, flush: boolean): Promise<Progress> {
  await connection.execute(stepSettings)
  if (flush) await connection.execute(flushAtCommit)
  return onlyRow(await connection.query(locked))
}

const update = sql`UPDATE ${schema}.progress SET sequence = $1, drop_number = $2, genesis = $3::boolean`

export async function writeProgress(
  connection: Connection,
  { sequence, dropNumber, genesis }: Progress,
): Promise<void> {
  await connection.execute(update, [sequence, dropNumber, String(genesis)])
}

function onlyRow([row]: readonly Progress[]): Progress {
  if (row === undefined) throw new IndexError('INDEX_DIVERGED', 'The index has lost its progress')
  return row
}
