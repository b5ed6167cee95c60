/** What an {@link HttpError} may carry beside status and message. */
export interface HttpErrorOptions extends ErrorOptions {
  /** Fields of the body beside `error`. */
  readonly bodyFields?: Readonly<Record<string, unknown>>
}

/**
 * An error whose status and message are meant for the client.
 *
 * Handlers recognise one by its shape (`expose`, `statusCode`, `message`), never by its class, so that errors of
 * another copy of this package, of `http-errors` and of one's own are treated alike.
 */
export class HttpError extends Error {
  /** Says that status and message may leave the server; what does not say so leaves as a bare 500. */
  readonly expose = true
  /** Fields of the body beside `error`. */
  readonly bodyFields?: Readonly<Record<string, unknown>>

  /**
   * @param statusCode HTTP status of the answer, 400 to 599.
   * @param code stable name of the error, for logs and for code that catches it.
   * @param message what the client reads in `error`.
   * @param options the cause goes to the log only; `bodyFields` stand beside `error` in the body.
   */
  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
    options?: HttpErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
    if (options?.bodyFields) this.bodyFields = options.bodyFields
  }
}

/** Whether an error was made for the client's eyes. */
export function isExposed(
  error: unknown,
): error is Error & { statusCode: number; expose: true } & Pick<HttpErrorOptions, 'bodyFields'> {
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
