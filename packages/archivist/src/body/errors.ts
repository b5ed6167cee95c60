/** What is wrong with a block, stable, for programs. */
export type BlockErrorCode =
  /** Not the canonical encoding of a body: truncated, too long by a byte, a number not in its shortest form, a list out of order. */
  | 'BODY_MALFORMED'
  /** Longer than the declared limit. */
  | 'BODY_TOO_LARGE'
  /** A body, but not the one of this header: whoever sent it is to blame. */
  | 'BODY_FOREIGN'
  /** The body is the header's, and the block breaks the ledger: whoever committed it is to blame. */
  | 'BLOCK_INVALID'

/** A body that cannot be accepted. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly code: BlockErrorCode

  constructor(code: BlockErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
