import { StoreError } from '../errors.js'

/** Checks the name of a schema and quotes it, so that it can stand in a statement. */
export function quoteSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name) || name.startsWith('pg_')) {
    throw new StoreError(
      'STORE_CONFIGURATION',
      'The schema is 1 to 63 of a-z, 0-9 and _, begins with no digit, and not with pg_',
    )
  }
  return `"${name}"`
}
