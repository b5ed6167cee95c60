/** Why a transaction of the protocol cannot be drafted; stable. */
export type ProtocolErrorCode =
  /** The state queue is not one root followed by one list; `cause` has the error of `@ratatosk/contracts`. */
  | 'PROTOCOL_BROKEN_QUEUE'
  /** It is not the turn of the header's operator, or the block ends after that turn. */
  | 'PROTOCOL_NOT_SCHEDULED'
  /** The oldest block is not mature in this slot. */
  | 'PROTOCOL_NOT_MATURE'
  /** It needs the administrator, and the contracts have none. */
  | 'PROTOCOL_ADMINISTRATOR_RENOUNCED'
  /** More elements, dust included, than one transaction can spend. */
  | 'PROTOCOL_TOO_MANY_ELEMENTS'

/** A transaction of the protocol cannot be drafted, because a validator would reject it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(
    readonly code: ProtocolErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Whether a caught value is a {@link ProtocolError}; works across copies of the package. */
export function isProtocolError(value: unknown): value is ProtocolError {
  return value instanceof Error && value.name === 'ProtocolError'
}
