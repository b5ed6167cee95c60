import { type Connection, type Database, runTransaction } from './connection.js'
import { type Parameter, toBytes, toText, typeOf } from './parameters.js'
import { toStoreError } from './store-error.js'

interface EmbeddedQueryOptions {
  readonly parsers: { [type: number]: (value: string) => unknown }
  readonly serializers: { [type: number]: (value: string) => string }
}

interface EmbeddedConnection {
  query<Row>(
    statement: string,
    parameters?: string[],
    options?: EmbeddedQueryOptions,
  ): Promise<{ rows: Row[] }>
}

/** The part of a PGlite instance that the store uses. */
export interface PGliteLike extends EmbeddedConnection {
  transaction<T>(work: (transaction: EmbeddedConnection) => Promise<T>): Promise<T>
}

const conversions: EmbeddedQueryOptions = {
  parsers: { [typeOf.bytea]: toBytes, [typeOf.int8]: BigInt },
  serializers: { [typeOf.bytea]: (text) => text },
}

export function openPGlite(pglite: PGliteLike): Database {
  return {
    ...connection(pglite),

    async transaction(work) {
      let failure: { readonly reason: unknown } | undefined
      try {
        return await pglite.transaction(async (executor) => {
          try {
            return await runTransaction(connection(executor), work)
          } catch (reason) {
            failure = { reason }
            throw reason
          }
        })
      } catch (error) {
        throw failure?.reason === error ? error : toStoreError(error)
      }
    },

    // Its owner closes it.
    async close() {},
  }
}

function connection(executor: EmbeddedConnection): Connection {
  return {
    async query<Row>(statement: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
      try {
        const { rows } = await executor.query<Row>(statement, parameters.map(toText), conversions)
        return rows
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}
