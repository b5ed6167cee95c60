import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys, whyMissing } from '@ratatosk/test-kit'
import type { Test } from 'tap'

export type Placement = Readonly<Record<string, string>>

/** A kind of store and queue; every test gets its own, which is removed when the test ends. */
export interface Backend {
  readonly name: string
  readonly skip: string | false
  place(t: Test): Promise<Placement>
}

/** Why tests on PostgreSQL and Redis must be skipped; false if both respond. */
export async function servicesMissing(): Promise<string | false> {
  return (await whyMissing('PostgreSQL', 'Redis')) ?? false
}

/** Whether `npm run test:full` runs, which tries every backend. */
export const full = process.env.RATATOSK_TESTS === 'full'

/** PostgreSQL and Redis. */
export async function onServices(): Promise<Backend> {
  return { name: 'PostgreSQL and Redis', skip: await servicesMissing(), place: services }
}

/** PostgreSQL, with the queue in it. */
async function onDatabase(): Promise<Backend> {
  return { name: 'PostgreSQL alone', skip: await servicesMissing(), place: database }
}

/** Those that several processes can share: PostgreSQL and Redis; in the full run also PostgreSQL alone. */
export async function sharedBackends(): Promise<readonly Backend[]> {
  return full ? [await onServices(), await onDatabase()] : [await onServices()]
}

/** PostgreSQL and Redis, or everything embedded if they are missing; in the full run all. */
export async function backends(): Promise<readonly Backend[]> {
  const onEmbedded = { name: 'embedded', skip: false as const, place: embedded }
  if (full) return [onEmbedded, ...(await sharedBackends())]
  return [(await servicesMissing()) ? onEmbedded : await onServices()]
}

/** Creates a directory that is removed when the test ends. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-node-'))
  // The database server of a killed node still writes for a moment.
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  return directory
}

/** An embedded store, which the node creates. */
export async function embedded(t: Test): Promise<Placement> {
  return { DATA_DIR: await temporaryDirectory(t) }
}

/** PostgreSQL and Redis, on which a node starts fastest; embedded where they are missing. */
export const anyPlacement = async (t: Test): Promise<Placement> =>
  (await servicesMissing()) ? embedded(t) : services(t)

async function database(t: Test): Promise<Placement> {
  const name = randomName()
  t.teardown(() => dropSchemas(name))
  return { DATA_DIR: await temporaryDirectory(t), DATABASE_URL: databaseUrl, DATABASE_SCHEMA: name }
}

async function services(t: Test): Promise<Placement> {
  const name = randomName()
  t.teardown(async () => {
    await dropSchemas(name)
    await removeKeys(name)
  })
  return {
    DATA_DIR: await temporaryDirectory(t),
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: name,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: name,
  }
}

/** Drops the node's schema, its queue's, its index' and its devnet's. */
async function dropSchemas(name: string): Promise<void> {
  const schemas = [name, `${name}_queue`, `${name}_index`, `${name}_devnet`]
  await inDatabase(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
}
