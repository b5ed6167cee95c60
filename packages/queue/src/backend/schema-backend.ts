import {
  type PgPool,
  PostgresConnection,
  PostgresQueueBackend,
  QUEUE_EVENT_SUFFIX,
  quoteSchemaName,
} from 'bullmq'
import { QueueError } from '../errors.js'
import type { ConnectedFactory } from './bull-backend.js'

/** BullMQ's connection over an existing pool, in a schema of the caller's choice. */
class SchemaConnection extends PostgresConnection {
  override readonly schema: string

  constructor(pool: PgPool, schema: string) {
    super(pool)
    this.schema = schema
  }
}

/** As BullMQ's `createPostgresBackend`, which allows no pool with another `schema` on its search path. */
export function schemaBackend(pool: PgPool, schema: string): ConnectedFactory {
  return (name, options, { blocking = false, withBlockingConnection = false } = {}) => {
    const worker = 'name' in options && typeof options.name === 'string' ? `:w:${options.name}` : ''
    // Names the session that waits for jobs or events, which is how `getWorkers` finds it.
    const session = withBlockingConnection
      ? `${name}${worker}`
      : blocking
        ? `${name}${QUEUE_EVENT_SUFFIX}`
        : undefined
    return new PostgresQueueBackend(
      new SchemaConnection(pool, schema),
      name,
      { ...options, connection: pool },
      true,
      session,
    )
  }
}

/**
 * Keeps jobs uncompressed: to compress one took two fifths of the time of storing it, and a job lives for
 * moments. Changes nothing where it is so already, or where the tables belong to another user.
 */
export async function storeUncompressed(client: Pick<PgPool, 'query'>, schema: string): Promise<void> {
  await client.query(`DO $$ BEGIN
    IF EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid = '${quoteSchema(schema)}.job'::regclass AND attname = 'data' AND attstorage <> 'e'
    ) THEN
      ALTER TABLE ${quoteSchema(schema)}.job ALTER COLUMN data SET STORAGE EXTERNAL;
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END $$`)
}

/** The schema name for SQL. @throws QueueError `QUEUE_CONFIGURATION` unless a plain identifier (BullMQ) */
export function quoteSchema(schema: string): string {
  try {
    return quoteSchemaName(schema)
  } catch (cause) {
    throw new QueueError('QUEUE_CONFIGURATION', 'The schema name must be a plain identifier', { cause })
  }
}
