import type { PredicateFailure, Verdict } from '@ratatosk/ledger'

/**
 * What went wrong at layer 1, in words that an HTTP API may show as `cause`.
 *
 * | kind | meaning | does it pass by itself? |
 * | --- | --- | --- |
 * | `timeout` | no answer, or no confirmation, within the time given | it may |
 * | `rate limited` | the provider refuses more requests for now | yes |
 * | `unreachable` | no connection, or it broke off | it may |
 * | `provider error` | the provider failed by its own account (5xx) | it may |
 * | `invalid answer` | an answer that makes no sense, or a redirect, which is never followed | it may |
 * | `unauthorized` | the provider does not take the credential | no |
 * | `wrong network` | provider, address or transaction belong to another network | no |
 * | `rejected` | the transaction breaks a rule of the ledger; `reason` says which | no |
 * | `rolled back` | the transaction was in a block that is no longer on the chain: send the same bytes again | no |
 */
export type FailureKind =
  | 'timeout'
  | 'rate limited'
  | 'unreachable'
  | 'provider error'
  | 'invalid answer'
  | 'unauthorized'
  | 'wrong network'
  | 'rejected'
  | 'rolled back'

export type Layer1ErrorCode =
  | 'LAYER1_TIMEOUT'
  | 'LAYER1_RATE_LIMITED'
  | 'LAYER1_UNREACHABLE'
  | 'LAYER1_PROVIDER_ERROR'
  | 'LAYER1_INVALID_ANSWER'
  | 'LAYER1_UNAUTHORIZED'
  | 'LAYER1_WRONG_NETWORK'
  | 'LAYER1_REJECTED'
  | 'LAYER1_ROLLED_BACK'

const codes: { readonly [kind in FailureKind]: Layer1ErrorCode } = {
  timeout: 'LAYER1_TIMEOUT',
  'rate limited': 'LAYER1_RATE_LIMITED',
  unreachable: 'LAYER1_UNREACHABLE',
  'provider error': 'LAYER1_PROVIDER_ERROR',
  'invalid answer': 'LAYER1_INVALID_ANSWER',
  unauthorized: 'LAYER1_UNAUTHORIZED',
  'wrong network': 'LAYER1_WRONG_NETWORK',
  rejected: 'LAYER1_REJECTED',
  'rolled back': 'LAYER1_ROLLED_BACK',
}

export interface Layer1ErrorDetails {
  /** Of `rejected`: the provider's words or the broken rules, at most 2,000 characters, without addresses of servers. */
  readonly reason?: string
  /** Of `rate limited`: how long the provider asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number
  /**
   * Of a submission: whether the transaction may have reached the network all the same. Where it may have, its id is
   * to be looked for, or the same bytes sent again, before anything else spends its inputs.
   */
  readonly mayHaveEffect?: boolean
}

/**
 * A failure of layer 1 or of the way to it. Neither message nor properties hold a credential or a server's address, and
 * there is no `cause`, in which a driver's error could carry one.
 *
 * @example
 * try {
 *   await layer1.submit(cbor)
 * } catch (error) {
 *   if (isLayer1Error(error) && error.kind === 'rejected') console.log(error.reason)
 * }
 */
export class Layer1Error extends Error {
  override readonly name = 'Layer1Error'
  /** For programs, and for searching. */
  readonly code: Layer1ErrorCode
  readonly reason?: string
  readonly retryAfterMs?: number
  readonly mayHaveEffect: boolean

  constructor(
    readonly kind: FailureKind,
    message: string,
    details: Layer1ErrorDetails = {},
  ) {
    super(message)
    this.code = codes[kind]
    this.mayHaveEffect = details.mayHaveEffect ?? false
    if (details.reason !== undefined) this.reason = details.reason
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
  }
}

/** Whether a caught value is a {@link Layer1Error}; works across copies of the package. */
export function isLayer1Error(value: unknown): value is Layer1Error {
  return value instanceof Error && value.name === 'Layer1Error'
}

/**
 * The name of a failure for an HTTP answer: its kind where it is one of layer 1, otherwise `unknown`.
 *
 * @example reply.code(503).send({ status: 'error', error: 'Layer 1 failed', cause: failureCause(error) })
 */
export function failureCause(error: unknown): FailureKind | 'unknown' {
  return isLayer1Error(error) ? error.kind : 'unknown'
}

export type WalletErrorCode =
  /** The seed phrase or signing key cannot be read; the message holds nothing of it. */
  | 'WALLET_INVALID_KEY'
  /** The wallet cannot pay: `missing` says what is lacking. */
  | 'WALLET_INSUFFICIENT_FUNDS'
  /** The draft asks for what no transaction can be; the message says what. */
  | 'WALLET_INVALID_DRAFT'
  /** Our own rules refuse the transaction that was built: `verdict` says why. It was not sent. */
  | 'WALLET_TRANSACTION_REFUSED'

export interface WalletErrorDetails {
  /** Lovelace under `lovelace`, other assets under policy id and asset name in hex, joined. */
  readonly missing?: ReadonlyMap<string, bigint>
  readonly verdict?: Verdict
}

/** What keeps a wallet from making a transaction. Never about the network, which says {@link Layer1Error}. */
export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly missing?: ReadonlyMap<string, bigint>
  readonly verdict?: readonly PredicateFailure[]

  constructor(
    readonly code: WalletErrorCode,
    message: string,
    details: WalletErrorDetails = {},
  ) {
    super(message)
    if (details.missing !== undefined) this.missing = details.missing
    if (details.verdict !== undefined) this.verdict = details.verdict
  }
}

/** Whether a caught value is a {@link WalletError}; works across copies of the package. */
export function isWalletError(value: unknown): value is WalletError {
  return value instanceof Error && value.name === 'WalletError'
}

export type ProtocolErrorCode =
  /** The state queue is not one root and one list behind it: `cause` is what `@ratatosk/contracts` says of it. */
  | 'PROTOCOL_BROKEN_QUEUE'
  /** The header's operator is not in turn in this slot, or the block ends after that turn. */
  | 'PROTOCOL_NOT_SCHEDULED'
  /** The oldest block may not be merged in this slot yet. */
  | 'PROTOCOL_NOT_MATURE'
  /** More elements at once than one transaction burns. */
  | 'PROTOCOL_TOO_MANY_ELEMENTS'

/** What keeps a transaction of the protocol from being drafted: a validator would refuse it. */
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
