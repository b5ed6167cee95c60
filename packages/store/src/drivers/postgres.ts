import pg from 'pg'
import { StoreError } from '../errors.js'
import type { PostgresOptions } from '../options.js'
import { type Connection, type Database, runTransaction } from './connection.js'
import { type Parameter, toBytes, toText, typeOf } from './parameters.js'
import { toStoreError } from './store-error.js'

/** Milliseconds beyond its time-out that the server is given to say so; after that the connection counts as lost. */
const answerGrace = 2_000

export function openPostgres(options: PostgresOptions): Database {
  const pool = new pg.Pool(poolConfig(options))
  // A connection that is lost at rest leaves the pool by itself; without a listener it would end the process.
  pool.on('error', () => {})
  const statementNames = new Map<string, string>()

  function connection(executor: pg.Pool | pg.PoolClient): Connection {
    return {
      async query<Row>(statement: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
        try {
          const { rows } = await executor.query({
            text: statement,
            values: parameters.map(toText),
            // Named: parsed once for each connection.
            ...(parameters.length > 0 && { name: nameOf(statement) }),
          })
          return rows
        } catch (error) {
          throw toStoreError(error)
        }
      },
    }
  }

  function nameOf(statement: string): string {
    const name = statementNames.get(statement) ?? `s${statementNames.size}`
    statementNames.set(statement, name)
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
    ...connection(pool),

    async transaction(work) {
      const client = await checkOut()
      let lost: StoreError | undefined
      const lose = (error: Error) => {
        lost = toStoreError(error)
      }
      client.on('error', lose)
      const own = connection(client)
      try {
        // The ledger's lock is the first statement: later ones must see what its last holder has committed.
        await own.query('BEGIN ISOLATION LEVEL READ COMMITTED')
        const result = await runTransaction(own, work)
        await own.query('COMMIT')
        return result
      } catch (error) {
        if (isUnavailable(error)) lose(error)
        else await own.query('ROLLBACK').catch(lose)
        throw lost ?? error
      } finally {
        client.off('error', lose)
        // A connection that cannot roll back is closed, so that the server does.
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
    // A batch is acknowledged to its submitter once it is committed, so it must not be lost after that.
    options: '-c synchronous_commit=on',
    types: { getTypeParser },
  }
}

const bigints: (text: string) => bigint = BigInt

function getTypeParser(type: number, format?: 'text' | 'binary') {
  if (type === typeOf.bytea) return toBytes
  if (type === typeOf.int8) return bigints
  return pg.types.getTypeParser(type, format)
}

/** The driver's own error quotes a url that it cannot read, with its password. */
function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url
  throw new StoreError(
    'STORE_CONFIGURATION',
    'The url does not read postgres://user:password@host:port/database',
  )
}
