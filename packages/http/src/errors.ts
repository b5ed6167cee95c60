/**
 * An error whose status and message are meant for the client.
 *
 * Handlers recognise one by its shape (`expose`, `statusCode`, `message`), never by its class, so that errors of
 * another copy of this package, of `http-errors` and of one's own are treated alike.
 */
export class HttpError extends Error {
  /** Says that status and message may leave the server; what does not say so leaves as a bare 500. */
  readonly expose = true

  /**
   * @param statusCode HTTP status of the answer, 400 to 599.
   * @param code stable name of the error, for logs and for code that catches it.
   * @param message what the client reads in `error`.
   * @param options the cause goes to the log only.
   */
  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
  }
}

/** Whether an error was made for the client's eyes. */
export function isExposed(error: unknown): error is Error & { statusCode: number; expose: true } {
  return (
    error instanceof Error &&
    'expose' in error &&
    error.expose === true &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode <= 599
  )
}
