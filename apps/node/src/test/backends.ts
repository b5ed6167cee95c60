import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseUrl, randomName, redisUrl, removeKeys } from '@ratatosk/test-services'
import type { Test } from 'tap'
import { dropSchemas, servicesMissing } from './services.js'

/** Settings that place a node's store and queue. */
export type Placement = Readonly<Record<string, string>>

/** A place of its own for a test, which is gone when the test ends. */
export interface Backend {
  readonly name: string
  /** Why its tests are skipped. */
  readonly skip: string | false
  place(t: Test): Promise<Placement>
}

/** Everything embedded, and everything outside. */
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

/** A directory of its own. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-node-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function embedded(t: Test): Promise<Placement> {
  return { DATA_DIR: await temporaryDirectory(t) }
}

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
