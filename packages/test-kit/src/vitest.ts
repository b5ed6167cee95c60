import type { PGlite } from '@electric-sql/pglite'
import { onTestFinished, type TestContext } from 'vitest'
import { createPGlite } from './pglite.js'
import {
  giveBack,
  inDatabase,
  openIn,
  randomName,
  redisUrl,
  removeKeys,
  takeSchema,
  whyMissing,
} from './services.js'

interface Closable {
  close(): Promise<void>
}

/** How a package under test opens a store and a queue. */
export interface ServiceFunctions<Store extends Closable, Queue extends Closable> {
  openStore(
    options:
      | { readonly pglite: PGlite; readonly schema: string }
      | { readonly url: string; readonly schema: string },
  ): Promise<Store>
  openQueueBackend(
    options:
      | { readonly kind: 'pglite'; readonly pglite: PGlite }
      | {
          readonly kind: 'redis'
          readonly url: string
          readonly prefix: string
          readonly requestTimeoutMs: number
        },
  ): Promise<Queue>
}

export interface OpenedServices<Store, Queue> {
  readonly store: Store
  readonly queue: Queue
  /** Schema of the store and prefix of the queue, for another process: no later test gets what is read. */
  readonly name: string
}

/** One for all tests of a vitest worker; it ends with the worker. */
let shared: Promise<PGlite> | undefined
const sharedPGlite = (): Promise<PGlite> => {
  shared ??= createPGlite()
  return shared
}

/**
 * Opens a store and a queue for one test, on each pair of services, and removes every trace of them
 * afterwards.
 */
export function serviceOpeners<Store extends Closable, Queue extends Closable>({
  openStore,
  openQueueBackend,
}: ServiceFunctions<Store, Queue>) {
  type Opener = (context: TestContext) => Promise<OpenedServices<Store, Queue>>
  return {
    PGlite: async (context) => {
      const pglite = await sharedPGlite()
      const name = randomName()
      const store = await openStore({ pglite, schema: name })
      const queue = await openQueueBackend({ kind: 'pglite', pglite })
      context.onTestFinished(async () => {
        await queue.close()
        await store.close()
        await pglite.exec(`DROP SCHEMA ${name} CASCADE; DROP SCHEMA ratatosk_queue CASCADE`)
      })
      return { store, queue, name }
    },
    'PostgreSQL and Redis': async (context) => {
      await needServices(context)
      const name = takeSchema()
      let isShared = false
      const store = await openIn(name, openStore)
      // Scripts that tests run beside each other block the thread for seconds.
      const patience = { requestTimeoutMs: 10_000 }
      const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name, ...patience })
      context.onTestFinished(async () => {
        await queue.close()
        await store.close()
        await removeKeys(name)
        await giveBack(name, isShared)
      })
      return {
        store,
        queue,
        get name() {
          isShared = true
          return name
        },
      }
    },
  } satisfies Record<string, Opener>
}

/**
 * The pairs of services that a test of every pair runs on: both in the full run, otherwise those of most
 * deployments. The tests of store and queue compare the databases.
 */
export function testedServices<Opener>(
  openers: Readonly<Record<keyof ReturnType<typeof serviceOpeners>, Opener>>,
): (readonly [keyof typeof openers, Opener])[] {
  const embedded = process.env.RATATOSK_STORES === 'all' ? (['PGlite'] as const) : []
  return [...embedded, 'PostgreSQL and Redis' as const].map((name) => [name, openers[name]])
}

/** Opens a store until the test ends: in PostgreSQL, or in a PGlite, which takes longer, if there is none. */
export async function openTestStore<Store extends Closable>(
  openStore: ServiceFunctions<Store, never>['openStore'],
): Promise<Store> {
  const isMissing = (await whyMissing('PostgreSQL')) !== undefined
  const pglite = isMissing ? await sharedPGlite() : undefined
  const schema = pglite ? randomName() : takeSchema()
  const store = pglite ? await openStore({ pglite, schema }) : await openIn(schema, openStore)
  onTestFinished(async () => {
    await store.close()
    await (pglite ? pglite.exec(`DROP SCHEMA ${schema} CASCADE`) : giveBack(schema, false))
  })
  return store
}

/** Skips the test if PostgreSQL or Redis does not respond; fails it if `RATATOSK_REQUIRE_SERVICES=1`. */
export async function needServices(context: TestContext): Promise<void> {
  const reason = await whyMissing('PostgreSQL', 'Redis')
  if (reason !== undefined) context.skip(reason)
}

/** Drops the schema and the keys that {@link serviceOpeners} gave a test. */
export async function removeTraces(name: string): Promise<void> {
  await inDatabase(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  await removeKeys(name)
}
