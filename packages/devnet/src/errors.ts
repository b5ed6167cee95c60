export type DevnetErrorCode =
  /** The options cannot work, or the store holds a chain that began otherwise. */
  | 'DEVNET_CONFIGURATION'
  /** The store holds something that is no chain of ours, or lacks a part of one. */
  | 'DEVNET_STORE_CORRUPT'
  /** More blocks are to be rolled back than there are, or than can still be undone. */
  | 'DEVNET_ROLLBACK_TOO_DEEP'
  | 'DEVNET_CLOSED'
  /** A fault that was asked for: no answer came within the caller's patience. */
  | 'DEVNET_FAULT_TIMEOUT'
  /** A fault that was asked for: the connection was refused or broken off. */
  | 'DEVNET_FAULT_REFUSED'
  /** A fault that was asked for: too many requests. */
  | 'DEVNET_FAULT_RATE_LIMITED'
  /** A fault that was asked for: the server failed. */
  | 'DEVNET_FAULT_FAILED'
  /** A fault that was asked for: the answer was not what it should be. */
  | 'DEVNET_FAULT_GARBAGE'

/**
 * What goes wrong with a devnet itself. A transaction that breaks a rule is no error: `submit` resolves to the verdict.
 *
 * @example
 * try {
 *   await devnet.rollBack(10)
 * } catch (error) {
 *   if (!isDevnetError(error) || error.code !== 'DEVNET_ROLLBACK_TOO_DEEP') throw error
 * }
 */
export class DevnetError extends Error {
  override readonly name = 'DevnetError'

  constructor(
    readonly code: DevnetErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Whether a caught value is this package's error; works across copies of the package. */
export function isDevnetError(value: unknown): value is DevnetError {
  return value instanceof Error && value.name === 'DevnetError'
}
