// The PostgreSQL and the Redis that figures are measured on, and how to leave them as they were found.
import { Redis } from 'ioredis'
import pg from 'pg'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Runs work with a connection of its own to the database. */
export async function withDatabase(work, url = databaseUrl) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Drops the schemas of a node and deletes its queues. */
export async function removeTraces(name) {
  await withDatabase(async (client) => {
    for (const schema of [name, `${name}_index`, `${name}_devnet`]) {
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    }
  })
  const redis = new Redis(redisUrl)
  try {
    for await (const keys of redis.scanStream({ match: `${name}:*`, count: 10_000 })) {
      if (keys.length > 0) await redis.unlink(keys)
    }
  } finally {
    redis.disconnect()
  }
}
