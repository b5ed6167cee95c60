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
