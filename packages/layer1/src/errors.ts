/**
 * The kind of a layer-1 failure, which an HTTP API may show as `cause`.
 *
 * | kind | meaning | transient |
 * | --- | --- | --- |
 * | `timeout` | no answer, or no confirmation, in time | yes |
 * | `rate limited` | the provider limits the request rate | yes |
 * | `unreachable` | no connection, or it broke | yes |
 * | `provider error` | the provider answered with a server error (5xx) | yes |
 * | `invalid answer` | an answer that cannot be read, or a redirect, which is never followed | yes |
 * | `unauthorized` | the provider rejects the credential | no |
 * | `wrong network` | the provider, address or transaction belongs to another network | no |
 * | `rejected` | the transaction breaks a ledger rule, named in `reason` | no |
 * | `rolled back` | the transaction's block left the chain: submit the same bytes again | no |
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
  /** For `rejected`: the provider's text or the broken rules, at most 2,000 characters, without URLs. */
  readonly reason?: string
  /** For `rate limited`: the provider's Retry-After, in milliseconds. */
  readonly retryAfterMs?: number
  /**
   * For a submission: whether the transaction may have reached the network nevertheless. If so, look up its
   * id or submit the same bytes again before anything else spends its inputs.
   */
  readonly mayHaveEffect?: boolean
}

/**
 * A failure of layer 1 or of the connection to it. It contains no credential, no server address and no
 * `cause`, in which a driver's error could carry one.
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
  /** Stable. */
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
 * The `cause` of a failure for an HTTP answer: the kind of a {@link Layer1Error}, otherwise `unknown`.
 *
 * @example reply.code(503).send({ status: 'error', error: 'Layer 1 failed', cause: failureCause(error) })
 */
export function failureCause(error: unknown): FailureKind | 'unknown' {
  return isLayer1Error(error) ? error.kind : 'unknown'
}
