import { type TLiteral, type TObject, type TString, type TUnsafe, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorHandler } from './error-handler.js'
import { HttpError } from './errors.js'

/** What a failure of layer 1 may be called in an answer; what is none of these is `unknown`. */
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

export type Layer1Cause = (typeof layer1Causes)[number]

/** Body of a 503 of layer 1. */
export interface Layer1FailureBody {
  status: 'error'
  error: string
  cause: Layer1Cause
}

/** Schema of a {@link Layer1FailureBody}. */
export function layer1FailureBody(): TObject<{
  status: TLiteral<'error'>
  error: TString
  cause: TUnsafe<Layer1Cause>
}> {
  return Type.Object(
    {
      status: Type.Literal('error'),
      error: Type.String(),
      cause: Type.Unsafe<Layer1Cause>(Type.String({ enum: [...layer1Causes] })),
    },
    { title: 'Layer1Failure', description: 'The provider of layer 1 failed; it may answer again later' },
  )
}

/** 503: the provider of layer 1 failed. The body names the kind of failure and nothing else of it. */
export class Layer1FailureError extends HttpError {
  /**
   * @param kind one of {@link layer1Causes}; any other text becomes `unknown` and stays inside
   * @param code stable name of the failure, for the log
   * @param options the cause goes to the log only
   */
  constructor(kind: string, code: string, options?: ErrorOptions) {
    const cause = layer1Causes.find((known) => known === kind) ?? 'unknown'
    const shown = cause === 'unknown' ? '' : `: ${cause}`
    super(503, code, `The layer-1 provider failed${shown}`, {
      ...options,
      bodyFields: { status: 'error', cause },
    })
  }
}

/**
 * What a failure of layer 1 is answered with: of an error whose `code` begins with `LAYER1_` and that has a `kind`; any other
 * value is returned as it is.
 */
export function asLayer1Failure(error: unknown): unknown {
  if (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('LAYER1_') &&
    'kind' in error &&
    typeof error.kind === 'string'
  ) {
    return new Layer1FailureError(error.kind, error.code, { cause: error })
  }
  return error
}

/**
 * {@link errorHandler} for routes whose ports ask layer 1: its failures are a 503 `{ status: 'error', error, cause }`.
 *
 * @example
 * ```ts
 * fastify.setErrorHandler(layer1ErrorHandler)
 * ```
 */
export function layer1ErrorHandler(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return errorHandler(asLayer1Failure(error), request, reply)
}
