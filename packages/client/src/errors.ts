import type { StatusFailure, StatusRejection, StatusRemoval } from './api.js'

/** Every error of the client, except the reason of an aborted signal. `code` is stable. */
export class ClientError extends Error {
  /** Of a claim that failed: claim again with this key, and the node pays once at most. */
  idempotencyKey?: string

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
  }
}

/**
 * The node was not reached, or the connection broke. Whether the request took effect is not known.
 * `CLIENT_NETWORK`.
 */
export class NetworkError extends ClientError {
  constructor(request: string, url: string, cause: unknown) {
    const remedy = 'Check that the node runs and its URL is right'
    super('CLIENT_NETWORK', `${request}: no answer from ${url}. ${remedy}`, { cause })
  }
}

/** The time of `timeoutMs` is over. Whether the request took effect is not known. `CLIENT_TIMEOUT`. */
export class TimeoutError extends ClientError {
  constructor(request: string, timeoutMs: number, what: string) {
    super('CLIENT_TIMEOUT', `${request}: ${what} within ${timeoutMs} ms`)
  }
}

/**
 * The answer is not what the document describes: the URL is perhaps not that of a node.
 * `CLIENT_INVALID_ANSWER`.
 */
export class InvalidAnswerError extends ClientError {
  constructor(request: string, what: string, options?: ErrorOptions) {
    super('CLIENT_INVALID_ANSWER', `${request}: ${what}. Check that the URL is that of a node`, options)
  }
}

/** The parts of a {@link StatusError}. */
export interface StatusErrorInit {
  /** Method and path. */
  readonly request: string
  /** Of the node, without credentials. */
  readonly url: string
  readonly status: number
  /** The JSON of the answer, or its text if it is not JSON. */
  readonly body: unknown
  /** `Retry-After` in seconds. */
  readonly retryAfter: number | undefined
  /** `Link`, whose `help` is the entry of the error in the node's documents. */
  readonly link: string | null
}

const helpOf = (link: string | null): string | undefined =>
  /#([A-Z][A-Z0-9_]{1,99})>; *rel="?help\b/.exec(link ?? '')?.[1]

/** Characters that are taken from an answer; its body has all. */
const longest = { code: 100, message: 2000 }

/** An answer other than 2xx. `code` is that of the body, or of its help, or else `HTTP_<status>`. */
export class StatusError extends ClientError {
  /** Method and path. */
  readonly request: string
  /** Of the node, as `createClient` got it, but without credentials. */
  readonly url: string
  readonly status: number
  /** The JSON of the answer, or its text if it is not JSON. */
  readonly body: unknown
  /** Seconds after which the node may be asked again, if it said so. */
  readonly retryAfter: number | undefined

  constructor({ request, url, status, body, retryAfter, link }: StatusErrorInit) {
    const { code, error } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    super(
      typeof code === 'string' && code.length <= longest.code ? code : (helpOf(link) ?? `HTTP_${status}`),
      `${request}: ${status}${typeof error === 'string' ? ` ${error.slice(0, longest.message)}` : ''}`,
    )
    this.request = request
    this.url = url
    this.status = status
    this.body = body
    this.retryAfter = retryAfter
  }
}

/** 400: a parameter or the body is malformed; the message says what to send instead. */
export class BadRequestError extends StatusError {}
/** 401: the token is missing or wrong. */
export class WrongTokenError extends StatusError {}
/** 403: the origin or the host is not allowed. */
export class ForbiddenError extends StatusError {}
/** 404: what was asked for is not there. */
export class NotFoundError extends StatusError {}
/** 404 with the code `DISABLED`: the node does not serve the endpoint in its role. */
export class NotServedError extends NotFoundError {}
/** 409: not possible in the present state. */
export class ConflictError extends StatusError {}
/** 410: the node no longer keeps it. */
export class GoneError extends StatusError {}
/** 413: the body is too large. */
export class TooLargeError extends StatusError {}
/** 429: claimed too recently; the body has `nextEligibleAt`. */
export class RateLimitedError extends StatusError {}
/** 5xx: the node failed. */
export class ServerError extends StatusError {}
/** 503: a limit is reached, or layer 1 does not respond. */
export class UnavailableError extends ServerError {}
/** 504: the outcome of an operation is not known. */
export class UnknownOutcomeError extends ServerError {}

const byStatus: Readonly<Record<number, typeof StatusError>> = {
  400: BadRequestError,
  401: WrongTokenError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  413: TooLargeError,
  429: RateLimitedError,
  503: UnavailableError,
  504: UnknownOutcomeError,
}

export function statusError(init: StatusErrorInit): StatusError {
  const { status, body } = init
  const isDisabled = status === 404 && (body as { code?: unknown } | null | undefined)?.code === 'DISABLED'
  const ErrorClass = isDisabled
    ? NotServedError
    : (byStatus[status] ?? (status >= 500 ? ServerError : StatusError))
  return new ErrorClass(init)
}

/**
 * The node has refused the transaction for good. `code` is the first failed predicate, such as
 * `FeeTooSmallUTxO`.
 */
export class RejectedError extends ClientError {
  /** Every failed predicate. */
  readonly failures: readonly StatusFailure[]
  readonly rejection: StatusRejection

  constructor(rejection: StatusRejection) {
    super(rejection.code, rejection.reason)
    this.rejection = rejection
    this.failures = rejection.failures
  }
}

/**
 * The block of the transaction was removed, and the node does not bring the transaction back.
 * `CLIENT_REMOVED`.
 */
export class RemovedError extends ClientError {
  readonly removal: StatusRemoval | undefined

  constructor(txHash: string, removal: StatusRemoval | undefined) {
    super('CLIENT_REMOVED', `The block of ${txHash} was removed: submit the transaction again`)
    this.removal = removal
  }
}
