import { type PgPool, PostgresConnection, PostgresQueueBackend, QUEUE_EVENT_SUFFIX } from 'bullmq'
import type { ConnectedFactory } from '../bull-connector.js'

/** BullMQ's connection over a pool that exists already, in a schema of one's own. */
class SchemaConnection extends PostgresConnection {
  override readonly schema: string

  constructor(pool: PgPool, schema: string) {
    super(pool)
    this.schema = schema
  }
}

/**
 * As BullMQ's `createPostgresBackend`, which takes a pool only together with its default schema. The pool's sessions
 * must find `schema` on their search path.
 */
export function schemaBackend(pool: PgPool, schema: string): ConnectedFactory {
  return (name, options, { blocking = false, withBlockingConnection = false } = {}) => {
    const worker = 'name' in options && typeof options.name === 'string' ? `:w:${options.name}` : ''
    // Names the session that waits for jobs or events: this is how `getWorkers` finds it.
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
