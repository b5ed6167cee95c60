export type ContractsErrorCode = 'malformed-data' | 'invalid-parameter' | 'broken-queue'

/** What this package throws. `code` is stable; the message is for people. */
export class ContractsError extends Error {
  override readonly name: string = 'ContractsError'
  readonly code: ContractsErrorCode

  constructor(code: ContractsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Bytes that are not the Plutus data that they should be. */
export class MalformedData extends ContractsError {
  override readonly name = 'MalformedData'

  constructor(message: string, options?: ErrorOptions) {
    super('malformed-data', message, options)
  }
}

/** Outputs that are no state queue in order: see `orderQueue`. */
export class BrokenQueue extends ContractsError {
  override readonly name = 'BrokenQueue'

  constructor(message: string) {
    super('broken-queue', message)
  }
}
