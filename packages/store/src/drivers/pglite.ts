interface EmbeddedQueryOptions {
  readonly parsers: { [type: number]: (value: string) => unknown }
  readonly serializers: { [type: number]: (value: unknown) => string }
}

interface EmbeddedConnection {
  query<Row>(
    statement: string,
    parameters?: unknown[],
    options?: EmbeddedQueryOptions,
  ): Promise<{ rows: Row[] }>
}

/** The part of a PGlite instance that the store uses. */
export interface PGliteLike extends EmbeddedConnection {
  transaction<T>(work: (transaction: EmbeddedConnection) => Promise<T>): Promise<T>
}
