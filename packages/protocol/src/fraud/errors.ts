/** Why a block cannot be accused or removed; stable. */
export type FraudErrorCode =
  /** A body or a trie is not the one that the header commits to. */
  | 'FRAUD_ROOT_MISMATCH'
  /** A fraud was found, and the validators refuse the proof or the removal; `cause` has their failure. */
  | 'FRAUD_PROOF_REFUSED'

/** The only error class of this entry point. `code` is stable; the message is for people. */
export class FraudError extends Error {
  override readonly name = 'FraudError'

  constructor(
    readonly code: FraudErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Whether a caught value is a {@link FraudError}; works across copies of the package. */
export function isFraudError(value: unknown): value is FraudError {
  return value instanceof Error && value.name === 'FraudError'
}
