/** The codes of {@link DevnetError}. */
export type DevnetErrorCode =
  /** Invalid options or arguments, or a store whose chain has a different genesis. */
  | 'DEVNET_CONFIGURATION'
  /** The stored chain is incomplete, or a hash does not match its content. */
  | 'DEVNET_STORE_CORRUPT'
  /** A roll-back of more blocks than the chain has or the security parameter allows. */
  | 'DEVNET_ROLLBACK_TOO_DEEP'
  /** A roll-back of a transaction that no block contains. */
  | 'DEVNET_NOT_IN_A_BLOCK'
  /** Another process hosts the devnet. */
  | 'DEVNET_ELSEWHERE'
  /** The devnet was closed. */
  | 'DEVNET_CLOSED'
  /** Injected fault: no response arrived in time. */
  | 'DEVNET_FAULT_TIMEOUT'
  /** Injected fault: the connection was refused or broken off. */
  | 'DEVNET_FAULT_REFUSED'
  /** Injected fault: too many requests. */
  | 'DEVNET_FAULT_RATE_LIMITED'
  /** Injected fault: the server failed. */
  | 'DEVNET_FAULT_FAILED'
  /** Injected fault: the response could not be read. */
  | 'DEVNET_FAULT_GARBAGE'

/**
 * An error of the devnet itself. A transaction that violates a ledger rule is not an error: see
 * `DevnetSubmitResult`.
 *
 * @example
 * ```ts
 * try {
 *   await devnet.rollBack(10)
 * } catch (error) {
 *   if (!isDevnetError(error) || error.code !== 'DEVNET_ROLLBACK_TOO_DEEP') throw error
 * }
 * ```
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

/** True for a {@link DevnetError}, also one thrown by another copy of this package. */
export function isDevnetError(value: unknown): value is DevnetError {
  return value instanceof Error && value.name === 'DevnetError'
}

/**
 * Throws for wrong options or arguments.
 *
 * @param fault the message; undefined if nothing is wrong
 * @throws {DevnetError} `DEVNET_CONFIGURATION`
 */
export function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new DevnetError('DEVNET_CONFIGURATION', fault)
}
