/**
 * Why a call of this package failed.
 *
 * | code | meaning |
 * | --- | --- |
 * | `FAUCET_PAYER_CONFIGURATION` | an option is out of range, or keys and network do not match |
 * | `FAUCET_PAYER_CLOSED` | a claim was made after `close()` |
 * | `FAUCET_PAYER_BUSY` | other claims of this process kept the wallet busy; retry with the same key |
 */
export type FaucetPayerErrorCode = 'FAUCET_PAYER_CONFIGURATION' | 'FAUCET_PAYER_CLOSED' | 'FAUCET_PAYER_BUSY'

/** The error that this package throws. The message holds no key, token or `ipHash`. */
export class FaucetPayerError extends Error {
  override readonly name = 'FaucetPayerError'

  constructor(
    readonly code: FaucetPayerErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link FaucetPayerError}; works across copies of this package. */
export function isFaucetPayerError(value: unknown): value is FaucetPayerError {
  return value instanceof Error && value.name === 'FaucetPayerError'
}
