import { subscribe } from 'node:diagnostics_channel'
import { setImmediate } from 'node:timers/promises'
import { type Driver, type Executor, runTransaction } from './connection.js'
import { toDatabaseError } from './errors.js'
import { columnTypes, readers, toWire } from './parameters.js'
import type { Field } from './statement.js'

export interface EmbeddedQueryOptions {
  readonly parsers: { [type: number]: (value: string) => unknown }
  readonly serializers: { [type: number]: (value: string) => string }
}

export interface EmbeddedConnection {
  query<Row>(
    statement: string,
    parameters?: (string | Uint8Array)[],
    options?: EmbeddedQueryOptions,
  ): Promise<{ rows: Row[]; fields: Field[]; affectedRows?: number }>
}

/** The part of a PGlite instance that this package uses. */
export interface PGliteLike extends EmbeddedConnection {
  transaction<T>(work: (transaction: EmbeddedConnection) => Promise<T>): Promise<T>
  /** Runs each query of each connection, also within transactions. */
  _runExclusiveQuery?<T>(query: () => Promise<T>): Promise<T>
}

/** Milliseconds of queries after which timers and sockets take their turn. */
const turnLength = 10
/** Milliseconds that queries wait in addition while clients connect: each turn accepts one connection. */
const acceptLength = 30
/** The most milliseconds of that in each second: clients that always connect must not slow all queries. */
const maxAccepting = 200

let connections = 0
subscribe('net.server.socket', () => {
  connections++
})

const yielding = new WeakSet<PGliteLike>()

const conversions: EmbeddedQueryOptions = {
  parsers: readers,
  serializers: { [columnTypes.bytea.id]: (text) => text },
}

/** Uses a PGlite that its owner opened and will close. */
export function openPGlite(pglite: PGliteLike): Driver {
  yieldBetweenQueries(pglite)
  return {
    ...executor(pglite),
    autovacuum: false,

    async transaction(work) {
      let failure: { readonly reason: unknown } | undefined
      try {
        return await pglite.transaction(async (connection) => {
          try {
            return await runTransaction(executor(connection), work)
          } catch (reason) {
            failure = { reason }
            throw reason
          }
        })
      } catch (error) {
        throw failure?.reason === error ? error : toDatabaseError(error)
      }
    },

    async close() {},
  }
}

/**
 * PGlite runs on this thread, and its promises resolve within one turn of the event loop: without a pause, a
 * loop of queries would keep timers and sockets waiting.
 */
function yieldBetweenQueries(pglite: PGliteLike): void {
  const { _runExclusiveQuery: run } = pglite
  if (run === undefined || yielding.has(pglite)) return
  yielding.add(pglite)
  let turn: { readonly since: number; readonly over: Promise<void> } | undefined
  const begin = () => {
    const over = turnOver().then(() => {
      turn = undefined
    })
    return { since: performance.now(), over }
  }
  pglite._runExclusiveQuery = (query) =>
    run.call(pglite, async () => {
      turn ??= begin()
      if (performance.now() - turn.since > turnLength) {
        await turn.over
        turn ??= begin()
      }
      return query()
    }) as ReturnType<typeof query>
}

/** The time spent on {@link acceptLength} in one second, both in milliseconds. */
const accepting = { second: 0, spent: 0 }

/** Resolves after a turn of the event loop, or after those in which clients connect. */
async function turnOver(): Promise<void> {
  const deadline = performance.now() + turnLength + acceptLength
  let accepted = connections
  await setImmediate()
  const begun = performance.now()
  if (begun - accepting.second >= 1000) {
    accepting.second = begun
    accepting.spent = 0
  }
  const end = Math.min(deadline, begun + maxAccepting - accepting.spent)
  while (connections > accepted && performance.now() < end) {
    accepted = connections
    await setImmediate()
  }
  accepting.spent += performance.now() - begun
}

function executor(connection: EmbeddedConnection): Executor {
  return {
    async run(text, parameters) {
      try {
        const { rows, fields, affectedRows } = await connection.query(
          text,
          parameters.map(toWire),
          conversions,
        )
        return { rows, fields, changed: affectedRows ?? 0 }
      } catch (error) {
        throw toDatabaseError(error)
      }
    },
  }
}
