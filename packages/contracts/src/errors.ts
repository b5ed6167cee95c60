export type ContractsErrorCode =
  /** A script was requested with a parameter out of range. */
  | 'CONTRACTS_INVALID_PARAMETER'
  /** The outputs of a state queue are not one root and one list that starts there. */
  | 'CONTRACTS_BROKEN_QUEUE'

/** The only error class of this package. `code` is stable; the message is for people. */
export class ContractsError extends Error {
  override readonly name = 'ContractsError'

  constructor(
    readonly code: ContractsErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Whether a caught value is a {@link ContractsError}; works across copies of the package. */
export function isContractsError(value: unknown): value is ContractsError {
  return value instanceof Error && value.name === 'ContractsError'
}
