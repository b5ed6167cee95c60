import { DatabaseError } from './errors.js'

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
