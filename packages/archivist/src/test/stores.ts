import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import { openStore, type Store } from '@ratatosk/store'
import { afterAll, onTestFinished } from 'vitest'

/** One for a test file: making one takes a second. */
let shared: Promise<PGlite> | undefined
afterAll(async () => (await shared)?.close())

/** A store of its own in a PGlite, until the test ends. */
export async function openTestStore(): Promise<Store> {
  shared ??= PGlite.create()
  const pglite = await shared
  const schema = `test_${randomBytes(8).toString('hex')}`
  const store = await openStore({ pglite, schema })
  onTestFinished(async () => {
    await store.close()
    await pglite.exec(`DROP SCHEMA ${schema} CASCADE`)
  })
  return store
}
