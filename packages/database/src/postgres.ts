import pg from 'pg'
import { type Driver, type Executor, runTransaction } from './connection.js'
import { DatabaseError, toDatabaseError } from './errors.js'
import { readers, toWire } from './parameters.js'

/** Milliseconds in which the server may still report a time-out; then the connection counts as lost. */
const answerGrace = 2_000

/** The name of sessions that get no other. */
export const defaultApplicationName = 'ratatosk'

/** A PostgreSQL server. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Name of the sessions, which the server shows. Default: {@link defaultApplicationName}. */
  readonly applicationName?: string
  /** The most connections to open. Default 10. */
  readonly maxConnections?: number
  /** How long to wait for the server, or for a free connection, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** How long one statement may take, including the wait for a lock, in milliseconds. Default 30,000. */
  readonly statementTimeoutMs?: number
  /**
   * How long a transaction may stay idle before the server rolls it back and closes its connection, in
   * milliseconds. Default 60,000.
   */
  readonly idleInTransactionTimeoutMs?: number
}

/** A pool of connections to a PostgreSQL server. */
export function openPostgres(options: PostgresOptions): Driver {
  const pool = new pg.Pool(poolConfig(options))
  // The pool drops an idle connection that is lost. Without a listener its error would end the process.
  pool.on('error', () => {})
  const statementNames = new Map<string, string>()

  function executor(client: pg.Pool | pg.PoolClient): Executor {
    return {
      async run(text, parameters) {
        try {
          const { rows, fields, rowCount } = await client.query({
            text,
            values: parameters.map(toWire),
            // A named statement is parsed once per connection.
            ...(parameters.length > 0 && { name: nameOf(text) }),
          })
          return { rows, fields, changed: rowCount ?? 0 }
        } catch (error) {
          throw toDatabaseError(error)
        }
      },
    }
  }

  function nameOf(text: string): string {
    const name = statementNames.get(text) ?? `s${statementNames.size}`
    statementNames.set(text, name)
    return name
  }

  async function checkOut(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw toDatabaseError(error)
    }
  }

  return {
    ...executor(pool),
    autovacuum: true,

    async transaction(work) {
      const client = await checkOut()
      let lost: DatabaseError | undefined
      const lose = (error: Error) => {
        lost = toDatabaseError(error)
      }
      client.on('error', lose)
      const own = executor(client)
      const run: Executor['run'] = async (text, parameters) => {
        try {
          return await own.run(text, parameters)
        } catch (error) {
          if (isUnavailable(error)) lose(error)
          throw error
        }
      }
      try {
        // READ COMMITTED: statements after the ledger's lock must see what its previous holder committed.
        await run('BEGIN ISOLATION LEVEL READ COMMITTED', [])
        const result = await runTransaction({ run }, work)
        await run('COMMIT', [])
        return result
      } catch (error) {
        if (lost === undefined) await own.run('ROLLBACK', []).catch(lose)
        throw lost ?? error
      } finally {
        client.off('error', lose)
        // A connection that cannot roll back is closed, so that the server rolls back.
        client.release(lost)
      }
    },

    async close() {
      await pool.end()
    },
  }
}

function isUnavailable(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === 'DATABASE_UNAVAILABLE'
}

function poolConfig(options: PostgresOptions): pg.PoolConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000
  return {
    connectionString: checkedUrl(options.url),
    application_name: options.applicationName ?? defaultApplicationName,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + answerGrace,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 60_000,
    keepAlive: true,
    // A batch is acknowledged to its submitter once it is committed, so the commit must be durable. Compiling
    // a statement takes longer than running it.
    options: '-c synchronous_commit=on -c jit=off',
    types: { getTypeParser: (type, format) => readers[type] ?? pg.types.getTypeParser(type, format) },
  }
}

/** Checked here because the driver's own error quotes a malformed URL, password included. */
function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url
  throw new DatabaseError(
    'DATABASE_CONFIGURATION',
    'The url is malformed: it must read postgres://user:password@host:port/database',
  )
}
