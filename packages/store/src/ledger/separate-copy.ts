import { inSchema, openPGlite, openPostgres, quoteSchema, schema, sql } from '@ratatosk/database'
import type { StoredOptions } from '../read-stored.js'
import { toStoreError } from '../store-driver.js'

const separate = sql`UPDATE ${schema}.deployment SET ledger_id = gen_random_uuid(), queue = NULL`

/**
 * Makes the copy of a store a ledger of its own, with a new id and no queue yet: with those of the original,
 * its processes would take the submissions that wait for the original.
 *
 * @throws StoreError
 *
 * @example
 * await separateCopy({ url, schema: 'ratatosk' })
 */
export async function separateCopy(options: StoredOptions): Promise<void> {
  try {
    const name = quoteSchema(options.schema)
    const driver =
      'url' in options ? openPostgres({ url: options.url, maxConnections: 1 }) : openPGlite(options.pglite)
    try {
      await inSchema(driver, name).execute(separate)
    } finally {
      await driver.close()
    }
  } catch (error) {
    throw toStoreError(error)
  }
}
