import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys, whyMissing } from '@ratatosk/test-kit'
import type { Test } from 'tap'

/** Settings of a node's store and queue. */
export type Placement = Readonly<Record<string, string>>

/** A kind of store and queue; every test gets its own, which is removed when the test ends. */
export interface Backend {
  readonly name: string
  /** The reason to skip its tests. */
  readonly skip: string | false
  place(t: Test): Promise<Placement>
}

/** Why tests on PostgreSQL and Redis must be skipped; false if both respond. */
export async function servicesMissing(): Promise<string | false> {
  return (await whyMissing('PostgreSQL', 'Redis')) ?? false
}

/** Everything embedded, and everything in PostgreSQL and Redis. */
export async function bothBackends(): Promise<readonly [Backend, Backend]> {
  return [
    { name: 'embedded', skip: false, place: embedded },
    { name: 'PostgreSQL and Redis', skip: await servicesMissing(), place: services },
  ]
}

/** Both, and PostgreSQL with the queue in it. */
export async function backends(): Promise<readonly Backend[]> {
  return [
    ...(await bothBackends()),
    { name: 'PostgreSQL alone', skip: await servicesMissing(), place: database },
  ]
}

/** Creates a directory that is removed when the test ends. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-node-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
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
