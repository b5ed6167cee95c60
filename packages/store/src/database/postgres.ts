import pg from 'pg'
import { StoreError } from '../errors.js'
import type { PostgresOptions } from '../options.js'
import { readers } from './column-types.js'
import { type Driver, type Executor, runTransaction } from './connection.js'
import { toStoreError } from './driver-errors.js'
import { toText } from './parameters.js'

/**
 * Milliseconds after its time-out in which the server may still report it; then the connection counts as
 * lost.
 */
const answerGrace = 2_000

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
            values: parameters.map(toText),
            // A named statement is parsed once per connection.
            ...(parameters.length > 0 && { name: nameOf(text) }),
          })
          return { rows, fields, changed: rowCount ?? 0 }
        } catch (error) {
          throw toStoreError(error)
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
      throw toStoreError(error)
    }
  }

  return {
    ...executor(pool),
    autovacuum: true,

    async transaction(work) {
      const client = await checkOut()
      let lost: StoreError | undefined
      const lose = (error: Error) => {
        lost = toStoreError(error)
      }
      client.on('error', lose)
      const own = executor(client)
      try {
        // READ COMMITTED: statements after the ledger's lock must see what its previous holder committed.
        await own.run('BEGIN ISOLATION LEVEL READ COMMITTED', [])
        const result = await runTransaction(own, work)
        await own.run('COMMIT', [])
        return result
      } catch (error) {
        if (isUnavailable(error)) lose(error)
        else await own.run('ROLLBACK', []).catch(lose)
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

function isUnavailable(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'STORE_UNAVAILABLE'
}

function poolConfig(options: PostgresOptions): pg.PoolConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000
  return {
    connectionString: checkedUrl(options.url),
    application_name: 'ratatosk',
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + answerGrace,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 60_000,
    keepAlive: true,
    // A batch is acknowledged to its submitter once it is committed, so the commit must be durable.
    options: '-c synchronous_commit=on',
    types: { getTypeParser: (type, format) => readers[type] ?? pg.types.getTypeParser(type, format) },
  }
}

/** Checked here because the driver's own error quotes a malformed URL, password included. */
function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url
  throw new StoreError(
    'STORE_CONFIGURATION',
    'The url is malformed: it must read postgres://user:password@host:port/database',
  )
}
