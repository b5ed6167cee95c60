import { DatabaseError, toDatabaseError } from './errors.js'
import type { Parameter } from './parameters.js'
import { type Sql, sql } from './sql.js'
import { type Columns, checkFields, type Field, type Row, type Statement } from './statement.js'

/** The common interface of the drivers of PostgreSQL and PGlite: one statement in, one result out. */
export interface Executor {
  /** @throws DatabaseError */
  run(text: string, parameters: readonly Parameter[]): Promise<Result>
}

/** A result as the driver parsed it: its columns are read as `columnTypes` says. */
export interface Result {
  readonly rows: readonly unknown[]
  readonly fields: readonly Field[]
  /** Rows that an INSERT, UPDATE or DELETE changed. */
  readonly changed: number
}

/** An {@link Executor} inside a transaction. */
export interface TransactionExecutor extends Executor {
  /**
   * Lets the transaction end only with a rollback, whatever its work does next. Returns the error, to be
   * thrown.
   */
  doom<E extends Error>(error: E): E
}

/** A database through one of the drivers. */
export interface Driver extends Executor {
  /**
   * Whether the database reclaims the space of deleted rows and collects statistics for its planner by
   * itself.
   */
  readonly autovacuum: boolean
  /**
   * Commits when `work` resolves and rolls back when it rejects, with the work's own error. A failed
   * statement dooms the transaction, so work that ignores the failure cannot commit.
   */
  transaction<T>(work: (transaction: TransactionExecutor) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A driver that its owner closes. */
export type SharedDriver = Omit<Driver, 'close'>

/** Runs statements in one schema. */
export interface Connection {
  /** The schema's quoted name. */
  readonly schema: string
  /** @throws DatabaseError */
  query<S extends Columns>(statement: Statement<S>, parameters?: readonly Parameter[]): Promise<Row<S>[]>
  /**
   * Runs SQL that returns no rows. Returns how many rows it changed.
   *
   * @throws DatabaseError
   */
  execute(sql: Sql, parameters?: readonly Parameter[]): Promise<number>
}

/** A {@link Connection} inside a transaction. */
export interface SqlTransaction extends Connection, Pick<TransactionExecutor, 'doom'> {}

/** A {@link Connection} that can start transactions; see {@link Driver.transaction}. */
export interface Database extends Connection, Pick<Driver, 'autovacuum'> {
  transaction<T>(work: (transaction: SqlTransaction) => Promise<T>): Promise<T>
  /** Reclaims the space of deleted rows where the database does not do so on its own. */
  vacuum(...tables: string[]): Promise<void>
}

/** The tables of one schema, by its quoted name, through a driver. */
export function inSchema(driver: SharedDriver, schema: string): Database {
  const texts = new WeakMap<Sql, string>()
  const checked = new WeakSet<Statement<Columns>>()

  function textOf(sql: Sql): string {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = sql(schema)
    texts.set(sql, text)
    return text
  }

  function connect(executor: Executor): Connection {
    return {
      schema,
      async query<S extends Columns>(statement: Statement<S>, parameters: readonly Parameter[] = []) {
        const text = textOf(statement.sql)
        const { rows, fields } = await executor.run(text, parameters)
        if (!checked.has(statement)) checkFields(statement.returns, fields, text)
        checked.add(statement)
        // The only cast of rows: names and types were compared with the shape.
        return rows as Row<S>[]
      },
      async execute(sql, parameters = []) {
        return (await executor.run(textOf(sql), parameters)).changed
      },
    }
  }

  return {
    ...connect(driver),
    autovacuum: driver.autovacuum,
    transaction: (work) =>
      driver.transaction((transaction) => work({ ...connect(transaction), doom: transaction.doom })),
    async vacuum(...tables) {
      if (driver.autovacuum) return
      await driver.run(`VACUUM ${tables.map((table) => `${schema}.${table}`).join(', ')}`, [])
    },
  }
}

const indexOrder = sql`SELECT ${['enable_bitmapscan', 'enable_seqscan', 'jit']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')}`

/**
 * For transactions that read a few rows in the order of an index. Without statistics, which a PGlite never
 * has, the planner expects few rows and would read and sort all of them for each page.
 */
export async function readInIndexOrder(transaction: Connection): Promise<void> {
  await transaction.execute(indexOrder)
}

/** Runs one statement in a transaction that does {@link readInIndexOrder}. */
export function queryInIndexOrder<S extends Columns>(
  database: Database,
  statement: Statement<S>,
  parameters: readonly Parameter[],
): Promise<Row<S>[]> {
  return database.transaction(async (transaction) => {
    await readInIndexOrder(transaction)
    return transaction.query(statement, parameters)
  })
}

/** Runs `work` between a BEGIN and a COMMIT of the caller. Refuses statements after the work has ended. */
export async function runTransaction<T>(
  executor: Executor,
  work: (transaction: TransactionExecutor) => Promise<T>,
): Promise<T> {
  let ended = false
  let failure: Error | undefined
  const transaction: TransactionExecutor = {
    async run(text, parameters) {
      if (ended) throw new DatabaseError('DATABASE_CLOSED', 'The transaction has ended')
      if (failure !== undefined) throw failure
      try {
        return await executor.run(text, parameters)
      } catch (error) {
        throw transaction.doom(toDatabaseError(error))
      }
    },
    doom(error) {
      failure ??= error
      return error
    },
  }
  try {
    const result = await work(transaction)
    if (failure !== undefined) throw failure
    return result
  } finally {
    ended = true
  }
}

const settings = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')

/**
 * For transactions that look up a few rows by key. When a table has grown since it was last analysed, the
 * planner would scan all of it; these settings leave index look-ups as the only plan. Where no index exists,
 * the scan counts as so costly that PostgreSQL would compile the statement first, which takes a second.
 */
export async function lookUpByIndex(connection: Connection): Promise<void> {
  await connection.execute(sql`SELECT ${settings}`)
}

/**
 * Waits for a lock that the transaction holds until it ends, and sets what {@link lookUpByIndex} does.
 *
 * @param purpose what the lock guards within the connection's schema
 */
export async function advisoryLock(connection: Connection, purpose: string): Promise<void> {
  await connection.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), ${settings}`, [
    `ratatosk ${purpose} of ${connection.schema}`,
  ])
}
