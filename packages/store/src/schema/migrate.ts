import { fileURLToPath } from 'node:url'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import type { Connection, Database } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { advisoryLock } from '../ledger/advisory-lock.js'

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The schema's name in the generated files. */
const generatedSchema = '"ratatosk"'

interface AppliedMigration {
  readonly hash: string
}

/** Brings the schema to this version's state: all missing migrations in one transaction, one opener at a time. */
export async function migrate(database: Database, schema: string): Promise<void> {
  const migrations = readMigrationFiles({ migrationsFolder })
  await database.transaction(async (connection) => {
    await advisoryLock(connection, 'migrations', schema)
    const applied = await appliedMigrations(connection, schema)
    applied.forEach(({ hash }, position) => {
      if (migrations[position]?.hash !== hash) {
        throw new StoreError('STORE_SCHEMA_MISMATCH', `Another version of the node has migrated ${schema}`)
      }
    })
    for (const migration of migrations.slice(applied.length)) await apply(connection, schema, migration)
  })
}

async function appliedMigrations(connection: Connection, schema: string): Promise<AppliedMigration[]> {
  const [found] = await connection.query<{ schema: boolean; journal: boolean }>(
    `SELECT to_regnamespace($1) IS NOT NULL AS schema, to_regclass($1 || '.migrations') IS NOT NULL AS journal`,
    [schema],
  )
  // Asked first, because whoever may only use the schema may not say CREATE SCHEMA IF NOT EXISTS either.
  if (found?.schema !== true) await connection.query(`CREATE SCHEMA ${schema}`)
  if (found?.journal !== true) {
    await connection.query(
      `CREATE TABLE ${schema}.migrations (
        id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        hash text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
      )`,
    )
  }
  return connection.query<AppliedMigration>(`SELECT hash FROM ${schema}.migrations ORDER BY id`)
}

async function apply(connection: Connection, schema: string, migration: MigrationMeta): Promise<void> {
  for (const statement of migration.sql) {
    if (statement.startsWith('CREATE SCHEMA')) continue
    await connection.query(statement.replaceAll(generatedSchema, schema))
  }
  await connection.query(`INSERT INTO ${schema}.migrations (hash) VALUES ($1)`, [migration.hash])
}
