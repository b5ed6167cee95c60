/**
 * | code | meaning | transient |
 * | --- | --- | --- |
 * | `LAYER1_TIMEOUT` | no answer, or no confirmation, in time | yes |
 * | `LAYER1_RATE_LIMITED` | the provider limits the request rate | yes |
 * | `LAYER1_UNREACHABLE` | no connection, or it broke | yes |
 * | `LAYER1_PROVIDER_ERROR` | the provider answered with a server error (5xx) | yes |
 * | `LAYER1_INVALID_ANSWER` | an answer that cannot be read, or a redirect, which is never followed | yes |
 * | `LAYER1_UNAUTHORIZED` | the provider rejects the credential | no |
 * | `LAYER1_WRONG_NETWORK` | the provider, address or transaction belongs to another network | no |
 * | `LAYER1_REJECTED` | the transaction breaks a ledger rule, named in `reason` | no |
 * | `LAYER1_ROLLED_BACK` | the transaction's block left the chain: submit the same bytes again | no |
 */
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

export interface Layer1ErrorDetails {
  /** For `LAYER1_REJECTED`: the provider's text or the broken rules, up to 2,000 characters, no URLs. */
  readonly reason?: string
  /** For `LAYER1_RATE_LIMITED`: the provider's Retry-After, in milliseconds. */
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
 *   if (isLayer1Error(error) && error.code === 'LAYER1_REJECTED') console.log(error.reason)
 * }
 */
export class Layer1Error extends Error {
  override readonly name = 'Layer1Error'
  readonly reason?: string
  readonly retryAfterMs?: number
  readonly mayHaveEffect: boolean

  constructor(
    readonly code: Layer1ErrorCode,
    message: string,
    details: Layer1ErrorDetails = {},
  ) {
    super(message)
    this.mayHaveEffect = details.mayHaveEffect ?? false
    if (details.reason !== undefined) this.reason = details.reason
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
  }
}

/** Whether a caught value is a {@link Layer1Error}; works across copies of the package. */
export function isLayer1Error(value: unknown): value is Layer1Error {
  return value instanceof Error && value.name === 'Layer1Error'
}

const away: readonly Layer1ErrorCode[] = ['LAYER1_TIMEOUT', 'LAYER1_UNREACHABLE', 'LAYER1_RATE_LIMITED']

/** Whether the next request would meet the same: there is no connection, or too many requests. */
export const isLayer1Away = (error: unknown): boolean => isLayer1Error(error) && away.includes(error.code)

/**
 * The `cause` of a failure for an HTTP answer, such as `rate limited`; `unknown` for other errors.
 *
 * @example reply.code(503).send({ status: 'error', error: 'Layer 1 failed', cause: failureCause(error) })
 */
export function failureCause(error: unknown): string {
  if (!isLayer1Error(error)) return 'unknown'
  return error.code.slice('LAYER1_'.length).replaceAll('_', ' ').toLowerCase()
}
