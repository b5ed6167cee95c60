/** The command line is wrong: exit status 2, and nothing was started. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'CLI_USAGE'
}

/** A command failed. The message says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'

  /**
   * @param value what the document has besides the error, with `--json`
   * @param status the exit status
   */
  constructor(
    readonly code: string,
    message: string,
    readonly value: object = {},
    readonly status: 1 | 2 | 3 = 1,
  ) {
    super(message)
  }
}
