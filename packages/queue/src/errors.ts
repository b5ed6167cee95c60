/**
 * Why the queue refused or failed.
 *
 * | code | meaning |
 * | --- | --- |
 * | `QUEUE_UNAVAILABLE` | the backend cannot be reached, or did not answer in time: the same call may succeed later |
 * | `QUEUE_CONFIGURATION` | options that cannot work, such as a malformed `url` |
 * | `QUEUE_SCHEMA_CONFLICT` | the queue's tables on PGlite would be hidden by tables of the same name |
 * | `QUEUE_CLOSED` | used after `close()` |
 */
export type QueueErrorCode =
  | 'QUEUE_UNAVAILABLE'
  | 'QUEUE_CONFIGURATION'
  | 'QUEUE_SCHEMA_CONFLICT'
  | 'QUEUE_CLOSED'

/** What this package throws. Neither it nor its cause holds a credential, an address with one, or job data. */
export class QueueError extends Error {
  override readonly name = 'QueueError'
  readonly code: QueueErrorCode

  constructor(code: QueueErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: withoutSecrets(options.cause) })
    this.code = code
  }
}

/**
 * The same error without what its driver attached to it: ioredis puts the command with its arguments (a password in
 * AUTH, a transaction in an insert) on every reply error, where a logger would print it.
 */
export function withoutSecrets(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const copy = new Error(error.message)
  copy.name = error.name
  if (error.stack !== undefined) copy.stack = error.stack
  if ('code' in error && typeof error.code === 'string') Object.assign(copy, { code: error.code })
  return copy
}
