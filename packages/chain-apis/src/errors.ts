/**
 * The chain cannot answer now, and the request may be repeated: status 503. A chain throws it, or any error
 * with its `name` and a message for the client.
 */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'
  readonly statusCode = 503
}

/** True for errors with a message for clients: {@link ChainUnavailableError}, or with `expose: true`. */
export function isForClients(value: unknown): boolean {
  return isChainUnavailable(value) || (value instanceof Error && 'expose' in value && value.expose === true)
}

/** True for a {@link ChainUnavailableError}, also one thrown by another copy of this package. */
export function isChainUnavailable(value: unknown): value is ChainUnavailableError {
  return value instanceof Error && value.name === 'ChainUnavailableError'
}

/** A transaction has left the chain while an answer was read from it. */
export function undone(): ChainUnavailableError {
  return new ChainUnavailableError('A transaction of the answer has been undone. Ask again.')
}
