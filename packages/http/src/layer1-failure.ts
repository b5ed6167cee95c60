import { type TLiteral, type TObject, type TString, type TUnsafe, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorHandler } from './error-handler.js'
import { hasCode, type Layer1Cause, Layer1FailureError, layer1Causes, overloadWith } from './errors.js'

const prefix = 'LAYER1_'

const overloaded = 'overloaded'
type Cause = Layer1Cause | typeof overloaded

/** Body of a 503 because of layer 1, or because the node is overloaded. */
export interface Layer1FailureBody {
  status: 'error'
  error: string
  cause: Cause
}

/** Schema of a {@link Layer1FailureBody}. */
export function layer1FailureBody(): TObject<{
  status: TLiteral<'error'>
  error: TString
  cause: TUnsafe<Cause>
}> {
  return Type.Object(
    {
      status: Type.Literal('error'),
      error: Type.String(),
      cause: Type.Unsafe<Cause>(Type.String({ enum: [...layer1Causes, overloaded] })),
    },
    {
      title: 'Layer1Failure',
      description: 'The layer-1 provider failed, or the node is overloaded. Retry later',
    },
  )
}

/**
 * Turns an error of layer 1, recognised by a `code` that begins with `LAYER1_`, into a
 * {@link Layer1FailureError} whose `cause` field is the rest of the code in words: `LAYER1_RATE_LIMITED`
 * becomes `rate limited`. Returns any other value unchanged.
 */
export function asLayer1Failure(error: unknown): unknown {
  if (hasCode(error, prefix)) {
    const kind = error.code.slice(prefix.length).toLowerCase().replaceAll('_', ' ')
    return new Layer1FailureError(kind, error.code, { cause: error })
  }
  return error
}

/**
 * {@link errorHandler} for routes whose ports read layer 1: failures of layer 1 are answered 503
 * `{ status: 'error', error, cause }`, and so is an overload of the node.
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
  const failure = overloadWith(asLayer1Failure(error), { status: 'error', cause: overloaded })
  return errorHandler(failure, request, reply)
}
