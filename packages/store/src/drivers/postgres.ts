import postgres from 'postgres'
import { StoreError } from '../errors.js'
import type { PostgresOptions } from '../options.js'
import { type Connection, type Database, type ScopedConnection, scoped } from './connection.js'
import { toBytes, toText, typeOf } from './parameters.js'
import { toStoreError } from './store-error.js'

/** Seconds that `close` gives to statements under way. */
const closeTimeout = 5
/** Seconds between two attempts to connect, at most: a server that came back is found soon. */
const longestBackoff = 1

export function openPostgres(options: PostgresOptions): Database {
  const sql = connect(options)
  return {
    ...connection(sql),

    async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      const scope: { connection?: ScopedConnection; outcome?: Promise<T> } = {}
      try {
        // The ledger's lock is the first statement: later ones must see what its last holder has committed.
        await sql.begin('isolation level read committed', (executor) => {
          scope.connection = scoped(connection(executor))
          scope.outcome = work(scope.connection)
          return scope.outcome
        })
      } catch (error) {
        // A lost connection ends the transaction while `work` still runs: it must neither write elsewhere nor be left alone.
        scope.connection?.end()
        const failure = await scope.outcome?.then(
          () => undefined,
          (reason: unknown) => reason,
        )
        throw failure === error ? error : toStoreError(error)
      }
      scope.connection?.end()
      if (scope.outcome === undefined) throw new StoreError('STORE_FAILED', 'The transaction did not run')
      return scope.outcome
    },

    async close() {
      await sql.end({ timeout: closeTimeout })
    },
  }
}

type Executor = Pick<postgres.Sql, 'unsafe'>

function connection(executor: Executor): Connection {
  return {
    async query<Row>(statement: string, parameters: Parameters<Connection['query']>[1] = []) {
      try {
        // Prepared by name: parsed once for each connection.
        return await executor.unsafe<Row[]>(statement, parameters.map(toText), { prepare: true })
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}

function connect(options: PostgresOptions): postgres.Sql {
  try {
    return postgres(options.url, {
      max: options.maxConnections ?? 10,
      connect_timeout: (options.connectTimeoutMs ?? 10_000) / 1000,
      backoff: (retries) => Math.min(3 ** retries / 100, longestBackoff),
      fetch_types: false,
      onnotice: () => {},
      types: {
        bytea: {
          to: typeOf.bytea,
          from: [typeOf.bytea],
          serialize: (text: string) => text,
          parse: toBytes,
        },
        int8: { to: typeOf.int8, from: [typeOf.int8], serialize: (text: string) => text, parse: BigInt },
      },
      connection: {
        application_name: 'ratatosk',
        // A batch is acknowledged to its submitter once it is committed, so it must not be lost after that.
        synchronous_commit: 'on',
        statement_timeout: options.statementTimeoutMs ?? 30_000,
        idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 60_000,
      },
    })
  } catch {
    // The error of a URL that cannot be read quotes it, with its password.
    throw new StoreError('STORE_CONFIGURATION', 'The url is no PostgreSQL connection string')
  }
}
