/**
 * | code | meaning |
 * | --- | --- |
 * | `SETTLER_NOT_ACTIVE` | another process pays, or this one does not sequence now |
 */
export type SettlerErrorCode = 'SETTLER_NOT_ACTIVE'

/** The error that a settler throws. */
export class SettlerError extends Error {
  override readonly name = 'SettlerError'

  constructor(
    readonly code: SettlerErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link SettlerError}; works across copies of the package. */
export function isSettlerError(value: unknown): value is SettlerError {
  return value instanceof Error && value.name === 'SettlerError'
}
