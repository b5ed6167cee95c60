/**
 * - `INDEX_BEHIND`: the index does not yet have what was asked for. Try again later.
 * - `INDEX_DIVERGED`: what was accepted contradicts the index, which is then rebuilt.
 * - `INDEX_GENESIS`: the ledger was started with other genesis outputs than those given.
 * - `INDEX_CLOSED`: used after `close()`.
 */
export type IndexErrorCode = 'INDEX_BEHIND' | 'INDEX_DIVERGED' | 'INDEX_GENESIS' | 'INDEX_CLOSED'

/** A failure of the index itself. Failures of the database pass through unchanged. */
export class IndexError extends Error {
  override readonly name = 'IndexError'
  readonly code: IndexErrorCode

  constructor(code: IndexErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Whether a value is an {@link IndexError}, also of another copy of this package. */
export function isIndexError(error: unknown): error is IndexError {
  return error instanceof Error && error.name === 'IndexError'
}
