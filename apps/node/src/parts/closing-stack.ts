/** Closes what was opened, last first. */
export class ClosingStack {
  readonly #closers: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined

  /** Remembers how to close a thing that has just been opened. */
  defer(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /**
   * Closes everything, once, however often it is called. Where one fails, the others are closed all the same.
   *
   * @throws AggregateError of what failed
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const errors: unknown[] = []
    for (const close of this.#closers.reverse()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'Not everything could be closed')
  }
}
