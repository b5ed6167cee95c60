import type { Driver, Executor, Parameter } from '@ratatosk/database'
/** Runs statements. They name the schema of their tables themselves. */
export interface SharedConnection {
  /**
   * Runs one statement and returns its rows: bytea as Uint8Array, bigint as bigint, timestamptz as Date.
   * `Row` is what the caller claims about them; nothing checks it.
   *
   * @throws StoreError
   */
  query<Row>(text: string, parameters?: readonly Parameter[]): Promise<readonly Row[]>
}

/** The store's database and its connections, for tables that are not the store's. */
export interface SharedDatabase extends SharedConnection {
  /**
   * Commits when `work` resolves and rolls back when it rejects. Inside, use only the given connection: on
   * PGlite any other call on the same database waits forever.
   */
  transaction<T>(work: (connection: SharedConnection) => Promise<T>): Promise<T>
}

/** @param track counts running work, so that closing waits for it */
export function shareDatabase(
  driver: Driver,
  track: <T>(start: () => Promise<T>) => Promise<T>,
): SharedDatabase {
  return {
    query: (text, parameters) => track(() => connect(driver).query(text, parameters)),
    transaction: (work) => track(() => driver.transaction((transaction) => work(connect(transaction)))),
  }
}

function connect(executor: Executor): SharedConnection {
  return {
    async query<Row>(text: string, parameters: readonly Parameter[] = []) {
      return (await executor.run(text, parameters)).rows as readonly Row[]
    },
  }
}
