import type { Failures } from '@ratatosk/ledger'
import { maxChunks } from './derivation/chunks.js'

/**
 * Why bytes do not decode as a body, or a block does not match its header. Stable: programs branch on it.
 *
 * Two codes assign the fault. `BLOCK_BODY_MISMATCH` blames the sender of a body, `BLOCK_INVALID` the operator
 * who committed the header.
 */
export type BlockErrorCode =
  /**
   * Not the canonical encoding of a body: truncated, followed by more bytes, a number not in its shortest
   * form, a list out of order.
   */
  | 'BLOCK_BODY_MALFORMED'
  /** A body, or a length inside it, exceeds the limit. */
  | 'BLOCK_BODY_TOO_LARGE'
  /** A well-formed body that belongs to another header. */
  | 'BLOCK_BODY_MISMATCH'
  /**
   * The body belongs to the header, and the block breaks a rule. `cause` is the error of the rule, if there
   * is one.
   */
  | 'BLOCK_INVALID'
  /**
   * The transaction at `position` does not decode, or has bytes besides its body and witness set that do not
   * follow from them.
   */
  | 'BLOCK_TRANSACTION_MALFORMED'
  /** With the transaction at `position`, the block has more than 1,024 chunks. */
  | 'BLOCK_TOO_LARGE'
  /** A transaction spends `reference`, which another transaction of the block has spent. */
  | 'BLOCK_DOUBLE_SPEND'
  /** A transaction spends `reference`, which a later one of the block produces. */
  | 'BLOCK_SPENT_BEFORE_PRODUCED'
  /** `reference` is spent, and is not among the unspent outputs. */
  | 'BLOCK_INPUT_MISSING'
  /** `reference` is produced, and is already among the unspent outputs. */
  | 'BLOCK_OUTPUT_EXISTS'

/** The position of an error in a block. */
export interface BlockErrorDetails extends ErrorOptions {
  /** `<64 hex digits>#<index>`. */
  readonly reference?: string
  /** Position of the transaction in the block, from 0. */
  readonly position?: number
  /** The ledger rules that the transaction at `position` breaks. */
  readonly failures?: Failures
}

/** A body that is not acceptable, or a block that breaks a rule. */
export class BlockError extends Error {
  override readonly name = 'BlockError'
  readonly code: BlockErrorCode
  readonly reference: string | undefined
  readonly position: number | undefined
  readonly failures: Failures | undefined

  constructor(code: BlockErrorCode, message: string, details: BlockErrorDetails = {}) {
    super(message, details)
    this.code = code
    this.reference = details.reference
    this.position = details.position
    this.failures = details.failures
  }
}

export function tooLarge(position: number): BlockError {
  const message = `With transaction ${position} the block has more than ${maxChunks} chunks`
  return new BlockError('BLOCK_TOO_LARGE', message, { position })
}

/** Whether a caught value is a {@link BlockError}; works across copies of the package. */
export function isBlockError(value: unknown): value is BlockError {
  return value instanceof Error && value.name === 'BlockError'
}

/** Whether a caught value says that a committed block breaks a rule, so that no body of it is acceptable. */
export function isInvalidBlock(value: unknown): value is BlockError {
  return isBlockError(value) && value.code === 'BLOCK_INVALID'
}
