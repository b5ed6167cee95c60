/** The optional properties of an {@link HttpError} besides status, code and message. */
export interface HttpErrorOptions extends ErrorOptions {
  /** Fields of the response body next to `error`. */
  readonly bodyFields?: Readonly<Record<string, unknown>>
  /** Headers of the response, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Logged at `debug` also from 500 on, because a flood of requests may get it. */
  readonly quiet?: true
}

/**
 * An error whose status and message are meant for the client.
 *
 * @example
 * ```ts
 * throw new HttpError(404, 'SHOP_NO_SUCH_ITEM', 'No such item')
 * ```
 */
export class HttpError extends Error {
  /** Marks status and message as public; an error without this mark is answered with a bare 500. */
  readonly expose = true
  /** Fields of the response body next to `error`. */
  readonly bodyFields?: Readonly<Record<string, unknown>>
  /** Headers of the response. */
  readonly headers?: Readonly<Record<string, string>>
  /** Logged at `debug` also from 500 on. */
  readonly quiet?: true

  /**
   * @param statusCode HTTP status of the response, 400 to 599
   * @param code stable name of the error, of the form `PACKAGE_REASON`, for logs and for code that catches it
   * @param message the `error` field of the response body
   * @param options `cause` goes to the log only; `bodyFields` and `headers` go to the client
   */
  constructor(
    readonly statusCode: number,
    readonly code: string,
    message: string,
    options?: HttpErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
    if (options?.bodyFields) this.bodyFields = options.bodyFields
    if (options?.headers) this.headers = options.headers
    if (options?.quiet) this.quiet = true
  }
}

/** An error that may be shown to the client: an {@link HttpError}, or any error of the same shape. */
export type ExposedError = Error & { statusCode: number; expose: true } & Pick<
    HttpErrorOptions,
    'bodyFields' | 'headers' | 'quiet'
  >

/**
 * Whether a caught value may be shown to the client. Errors are recognised by shape (`expose: true`, a
 * `statusCode` from 400 to 599), so that those of another copy of this package, of `http-errors` and of your
 * own count too.
 */
export function isHttpError(value: unknown): value is ExposedError {
  return (
    value instanceof Error &&
    'expose' in value &&
    value.expose === true &&
    'statusCode' in value &&
    typeof value.statusCode === 'number' &&
    value.statusCode >= 400 &&
    value.statusCode <= 599
  )
}

/**
 * Whether a caught value is an error of one package: its `code` begins with the package's prefix. Works
 * across copies of the package.
 *
 * @param prefix such as `SUBMIT_`
 */
export function hasCode(value: unknown, prefix: string): value is Error & { readonly code: string } {
  return (
    value instanceof Error &&
    'code' in value &&
    typeof value.code === 'string' &&
    value.code.startsWith(prefix)
  )
}

/** 401: the request has no bearer token, or a wrong one. */
export class UnauthorizedError extends HttpError {
  constructor() {
    super(401, 'HTTP_UNAUTHORIZED', 'Unauthorized')
  }
}

/** 403: a web page of another origin made a browser send the request. */
export class CrossSiteError extends HttpError {
  constructor() {
    super(403, 'HTTP_CROSS_SITE', 'Cross-site requests are refused')
  }
}

/** 403: a link, a form or the address bar made a browser open a route that changes something. */
export class NavigationError extends HttpError {
  constructor() {
    super(403, 'HTTP_NAVIGATION', 'A link must not do this: send the request from a program, such as curl')
  }
}

/** 403: the request is addressed to a host name that is not the server's, as in DNS rebinding. */
export class HostNotAllowedError extends HttpError {
  constructor() {
    super(
      403,
      'HTTP_HOST_NOT_ALLOWED',
      'Host not allowed: use a loopback address or a host name that the server is configured for',
    )
  }
}

/**
 * 503: a limit of the server is reached. `Retry-After` says when the client may ask again.
 *
 * @example
 * ```ts
 * throw new BusyError('SHOP_TOO_MANY_CARTS', 'Too many carts: retry later')
 * ```
 */
export class BusyError extends HttpError {
  /**
   * @param code stable name of the error, of the form `PACKAGE_REASON`
   * @param message the `error` field of the response body
   * @param retryAfterSeconds whole seconds, at least 1
   */
  constructor(code: string, message: string, retryAfterSeconds = 1) {
    super(503, code, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
  }
}

/**
 * 503: the server is overloaded. `retryAfterMs` becomes the `Retry-After` of an error that has this one as
 * its cause. Log it elsewhere, with {@link refusalLog}. {@link overloadWith} adds the fields that a route's
 * errors have.
 */
export class OverloadedError extends HttpError {
  readonly retryAfterMs = 1000

  /** @param bodyFields fields of the response body next to `error` */
  constructor(bodyFields?: HttpErrorOptions['bodyFields']) {
    super(503, 'HTTP_OVERLOADED', 'The node is overloaded: retry later', {
      headers: { 'retry-after': '1' },
      quiet: true,
      ...(bodyFields && { bodyFields }),
    })
  }
}

/**
 * An {@link OverloadedError} with further fields in its body, so that it has the form of a route's errors;
 * any other value unchanged.
 *
 * @example
 * ```ts
 * fastify.setErrorHandler((error, request, reply) =>
 *   errorHandler(overloadWith(error, { code: 'OVERLOADED' }), request, reply),
 * )
 * ```
 */
export function overloadWith(error: unknown, bodyFields: HttpErrorOptions['bodyFields']): unknown {
  return hasCode(error, 'HTTP_OVERLOADED') ? new OverloadedError(bodyFields) : error
}

/** 503: a port does not answer. */
export class StoreUnavailableError extends HttpError {
  /** @param cause goes to the log only */
  constructor(cause?: unknown) {
    super(503, 'STORE_UNAVAILABLE', 'A service that this server needs does not answer: retry later', {
      cause,
      headers: { 'retry-after': '5' },
    })
  }
}

/** 429: the client sent more requests than it may. `Retry-After` says when it may send more. */
export class RateLimitError extends HttpError {
  /** @param seconds whole seconds until the client may send more, at least 1 */
  constructor(seconds: number) {
    const headers = { 'retry-after': String(seconds) }
    super(429, 'HTTP_RATE_LIMIT', 'Too many requests: retry later', { headers })
  }
}

/** An operation was not carried out: 409 if it cannot be carried out now, 504 if its outcome is not known. */
export class OperationError extends HttpError {}

/** The `cause` field of a layer-1 failure. Failures of any other kind are reported as `unknown`. */
export const layer1Causes = [
  'timeout',
  'rate limited',
  'unreachable',
  'provider error',
  'invalid answer',
  'unauthorized',
  'wrong network',
  'rejected',
  'rolled back',
  'unknown',
] as const

/** One of {@link layer1Causes}. */
export type Layer1Cause = (typeof layer1Causes)[number]

/** 503: the layer-1 provider failed. The body names the kind of failure and reveals nothing else about it. */
export class Layer1FailureError extends HttpError {
  /**
   * @param kind one of {@link layer1Causes}; any other text becomes `unknown` and is not shown
   * @param code stable name of the failure, for the log
   * @param options the cause goes to the log only
   */
  constructor(kind: string, code: string, options?: ErrorOptions) {
    const cause = layer1Causes.find((known) => known === kind) ?? 'unknown'
    const suffix = cause === 'unknown' ? '' : `: ${cause}`
    super(503, code, `The layer-1 provider failed${suffix}`, {
      ...options,
      bodyFields: { status: 'error', cause },
    })
  }
}
