/**
 * Why a call of this package failed.
 *
 * | code | meaning |
 * | --- | --- |
 * | `QUEUE_UNAVAILABLE` | not reachable, or no response in time; the same call may succeed later |
 * | `QUEUE_CONFIGURATION` | options that cannot work, such as a malformed `url` |
 * | `QUEUE_SCHEMA_CONFLICT` | tables of the same name in the PGlite instance would hide the queue's tables |
 * | `QUEUE_LEDGER_CONFLICT` | the queue is bound to another ledger |
 * | `QUEUE_FULL` | as many transactions wait as the queue may hold; `retryAfterMs` says when to try again |
 * | `QUEUE_CLOSED` | the backend was used after `close()` |
 */
export type QueueErrorCode =
  | 'QUEUE_UNAVAILABLE'
  | 'QUEUE_CONFIGURATION'
  | 'QUEUE_SCHEMA_CONFLICT'
  | 'QUEUE_LEDGER_CONFLICT'
  | 'QUEUE_FULL'
  | 'QUEUE_CLOSED'

/** The optional properties of a {@link QueueError} besides code and message. */
export interface QueueErrorOptions {
  readonly cause?: unknown
  /** Milliseconds after which the same call may succeed. */
  readonly retryAfterMs?: number
}

/**
 * The error that this package throws. Neither the error nor its cause contains a credential, an address with
 * a credential, or job data.
 */
export class QueueError extends Error {
  override readonly name = 'QueueError'
  readonly code: QueueErrorCode
  /** Of `QUEUE_FULL`: milliseconds after which the same call may succeed. */
  readonly retryAfterMs?: number

  constructor(code: QueueErrorCode, message: string, { cause, retryAfterMs }: QueueErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause: withoutSecrets(cause) })
    this.code = code
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/**
 * Whether a caught value is a {@link QueueError}; works across copies of this package.
 *
 * @example
 * try {
 *   await backend.ping()
 * } catch (error) {
 *   if (!isQueueError(error) || error.code !== 'QUEUE_UNAVAILABLE') throw error
 * }
 */
export function isQueueError(value: unknown): value is QueueError {
  return value instanceof Error && value.name === 'QueueError'
}

/** Copies an error without its driver's properties, such as a command's arguments with a password. */
export function withoutSecrets(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  // Its text is about an option of the driver.
  if (error.name === 'MaxRetriesPerRequestError')
    return new Error('Redis does not answer: start it, or correct REDIS_URL')
  const copy = new Error(error.message)
  copy.name = error.name
  if (error.stack !== undefined) copy.stack = error.stack
  if ('code' in error && typeof error.code === 'string') Object.assign(copy, { code: error.code })
  return copy
}

/** Refuses options that JavaScript misspells. @throws QueueError `QUEUE_CONFIGURATION` */
export function requireKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw wrongOption(`there is no option ${unknown}; its options are ${known.join(', ')}`)
}

export const wrongOption = (message: string): QueueError => new QueueError('QUEUE_CONFIGURATION', message)
