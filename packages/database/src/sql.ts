import { DatabaseError } from './errors.js'

/** SQL that takes the quoted name of the schema of its tables. */
export type Sql = (schema: string) => string

/** The name of the schema, in {@link sql}. */
export const schema: Sql = (name) => name

/**
 * SQL from a template. Values are SQL too: they are neither quoted nor sent as parameters.
 *
 * @example
 * const count = sql`SELECT count(*) FROM ${schema}.blocks WHERE height > $1`
 */
export function sql(texts: TemplateStringsArray, ...values: readonly (Sql | string | number)[]): Sql {
  return (name) =>
    texts.reduce((before, text, position) => {
      const value = values[position - 1] ?? ''
      return `${before}${typeof value === 'function' ? value(name) : value}${text}`
    })
}

/** Validates the name of a schema and quotes it for use in SQL. */
export function quoteSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name) || name.startsWith('pg_')) {
    throw new DatabaseError(
      'DATABASE_CONFIGURATION',
      'A schema name has 1 to 63 characters of a-z, 0-9 and _, and does not start with a digit or with pg_',
    )
  }
  return `"${name}"`
}

/**
 * Reads rows page by page, each page starting after the last row of the previous one. Nothing stays open
 * between two pages, so a slow reader holds neither a connection nor a transaction.
 *
 * @param read returns the rows after a given one, in a fixed order
 * @param isLast whether a page, which is not empty, has the last row
 */
export async function* keysetPages<Row>(
  read: (after: Row | undefined) => Promise<readonly Row[]>,
  isLast: (page: readonly Row[]) => boolean,
): AsyncGenerator<readonly Row[], void> {
  let after: Row | undefined
  for (;;) {
    const page = await read(after)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (isLast(page)) return
    after = last
  }
}

/** The most rows in a page whose bytes are limited too. */
export const maxPageRows = 500
/** The most bytes in such a page, unless its first row alone has more. */
export const maxPageBytes = 262_144

/**
 * Limits a page by rows and bytes, without reading the bytes of what does not fit. `complete` says that the
 * page has the last row.
 *
 * @param rows a query for at most `limit` rows in order, without ORDER BY of its own
 * @param order the columns that the rows are ordered by
 * @param measured the byte column that counts
 * @param limit SQL for the most rows
 */
export function bounded(rows: Sql, order: string, measured: string, limit: string): Sql {
  return sql`
    SELECT *, candidates < ${limit} AND all_bytes <= ${maxPageBytes} AS complete
    FROM (
      SELECT *, row_number() OVER so_far AS place, sum(octet_length(${measured})) OVER so_far AS bytes,
        count(*) OVER () AS candidates, sum(octet_length(${measured})) OVER () AS all_bytes
      FROM (${rows} ORDER BY ${order} LIMIT ${limit}) AS candidate
      WINDOW so_far AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    ) AS counted
    WHERE place = 1 OR bytes <= ${maxPageBytes}
    ORDER BY ${order}`
}
