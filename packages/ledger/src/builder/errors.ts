import type { Failures, PredicateFailure } from '../index.js'

export type WalletErrorCode =
  /** The seed phrase or signing key cannot be read; the message contains nothing of it. */
  | 'WALLET_INVALID_KEY'
  /** The native script cannot be read. */
  | 'WALLET_INVALID_SCRIPT'
  /** The wallet cannot pay: `missing` holds the missing amounts. */
  | 'WALLET_INSUFFICIENT_FUNDS'
  /** No transaction can satisfy the draft; the message says why. */
  | 'WALLET_INVALID_DRAFT'
  /** The built transaction breaks ledger rules, listed in `failures`. It was not sent. */
  | 'WALLET_TRANSACTION_REFUSED'

export interface WalletErrorDetails {
  /** Amounts by unit: `lovelace`, or policy id and asset name in hex, joined. */
  readonly missing?: ReadonlyMap<string, bigint>
  readonly failures?: Failures
}

/**
 * A wallet could not build a transaction. Failures of the network are `Layer1Error`s of `@ratatosk/layer1`.
 */
export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly missing?: ReadonlyMap<string, bigint>
  readonly failures?: readonly PredicateFailure[]

  constructor(
    readonly code: WalletErrorCode,
    message: string,
    details: WalletErrorDetails = {},
  ) {
    super(message)
    if (details.missing !== undefined) this.missing = details.missing
    if (details.failures !== undefined) this.failures = details.failures
  }
}

/** Whether a caught value is a {@link WalletError}; works across copies of the package. */
export function isWalletError(value: unknown): value is WalletError {
  return value instanceof Error && value.name === 'WalletError'
}
