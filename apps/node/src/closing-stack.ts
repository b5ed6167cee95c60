/** Closes what was opened, in reverse order. */
export class ClosingStack {
  readonly #closers: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined

  /** Registers how to close what has just been opened. */
  defer(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /**
   * Closes everything. Later calls return the same promise. A failure does not keep the rest from closing.
   *
   * @throws AggregateError of all failures
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
    if (errors.length > 0) throw new AggregateError(errors, 'Some parts failed to close')
  }
}
