/** Why a follower does not advance, or why it refused a peer's response. Stable: programs branch on it. */
export type FollowerErrorCode =
  /** The chain does not begin with the genesis outputs that the follower was given. */
  | 'FOLLOWER_GENESIS_MISMATCH'
  /** The archived bodies do not lead to the root of the archive's newest block. */
  | 'FOLLOWER_ARCHIVE_MISMATCH'
  /** The folder of the unspent outputs lacks an output. */
  | 'FOLLOWER_STATE_INCOMPLETE'
  /** Layer 1 no longer shows a block that was merged. */
  | 'FOLLOWER_MERGED_BLOCK_LOST'
  /** The headers of the state queue do not follow each other. */
  | 'FOLLOWER_BROKEN_QUEUE'
  /**
   * A peer's response is not what was requested. The follower backs off from the peer and asks the next one.
   */
  | 'FOLLOWER_PEER_ANSWER'
  /** The body of an invalid block is not kept, or no longer. */
  | 'FOLLOWER_NO_EVIDENCE'

/** Why a follower does not advance. The message says what an operator can do. */
export class FollowerError extends Error {
  override readonly name = 'FollowerError'

  constructor(
    readonly code: FollowerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Whether a caught value is a {@link FollowerError}; works across copies of the package. */
export function isFollowerError(value: unknown): value is FollowerError {
  return value instanceof Error && value.name === 'FollowerError'
}
