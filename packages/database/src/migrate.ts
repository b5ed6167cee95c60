import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { advisoryLock, type Connection, type Database } from './connection.js'
import { DatabaseError } from './errors.js'
import { schema, sql } from './sql.js'
import { bool, statement, text } from './statement.js'

/** The schema's name in the generated files. */
const generatedSchema = '"ratatosk"'

const found = statement(
  { schema: bool, journal: bool },
  sql`SELECT to_regnamespace($1) IS NOT NULL AS schema,
    to_regclass($1 || '.migrations') IS NOT NULL AS journal`,
)

const applied = statement({ hash: text }, sql`SELECT hash FROM ${schema}.migrations ORDER BY id`)

const createJournal = sql`
  CREATE TABLE ${schema}.migrations (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    hash text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`

/** The migrations that drizzle-kit generated into a folder, oldest first. */
export function readMigrations(migrationsFolder: string): readonly MigrationMeta[] {
  return readMigrationFiles({ migrationsFolder })
}

/** Applies the migrations that a schema lacks, in one transaction, one process at a time. */
export async function migrate(database: Database, migrations: readonly MigrationMeta[]): Promise<void> {
  await database.transaction(async (connection) => {
    await advisoryLock(connection, 'migrations')
    const [state] = await connection.query(found, [connection.schema])
    // Not CREATE SCHEMA IF NOT EXISTS, which a user without the privilege to create schemas may not run.
    if (state?.schema !== true) await connection.execute(sql`CREATE SCHEMA ${connection.schema}`)
    if (state?.journal !== true) await connection.execute(createJournal)
    const done = await appliedMigrations(connection, migrations)
    for (const migration of migrations.slice(done)) await apply(connection, migration)
  })
}

/**
 * How many of these migrations a schema has. It changes nothing.
 *
 * @throws DatabaseError `DATABASE_SCHEMA_MISMATCH` if it has others
 */
export async function appliedMigrations(
  connection: Connection,
  migrations: readonly MigrationMeta[],
): Promise<number> {
  const [state] = await connection.query(found, [connection.schema])
  if (state?.journal !== true) return 0
  const done = await connection.query(applied)
  if (done.every(({ hash }, position) => migrations[position]?.hash === hash)) return done.length
  throw new DatabaseError(
    'DATABASE_SCHEMA_MISMATCH',
    `The schema ${connection.schema} is of another version, whose tables differ`,
  )
}

async function apply(connection: Connection, migration: MigrationMeta): Promise<void> {
  for (const generated of migration.sql) {
    if (generated.startsWith('CREATE SCHEMA')) continue
    await connection.execute((schema) => generated.replaceAll(generatedSchema, schema))
  }
  await connection.execute(sql`INSERT INTO ${schema}.migrations (hash) VALUES ($1)`, [migration.hash])
}
