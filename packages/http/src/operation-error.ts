import type { Operation, OperationResult } from '@ratatosk/ports'
import {
  type TLiteral,
  type TObject,
  type TSchema,
  type TString,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorHandler } from './error-handler.js'
import {
  hasCode,
  type Layer1Cause,
  Layer1FailureError,
  layer1Causes,
  OperationError,
  overloadWith,
} from './errors.js'
import {
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  orBusy,
  unauthorizedBody,
} from './schemas.js'

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

/**
 * The error to throw for an operation that was not carried out.
 *
 * | result | response |
 * | --- | --- |
 * | `busy` | 409 `Commit already in progress`, or `Merge`, `Reset`, `Change of the bond` |
 * | `refused` | 409 with its code and its message |
 * | `layer1-failed` | 503 `{ status: 'error', error, cause }` |
 * | `timed-out` | 504 with its message and what to do |
 *
 * Any other result belongs to another operation. This is a defect: the error has no status, so the answer is
 * a 500.
 *
 * @param asked the operation that was requested
 *
 * @example
 * ```ts
 * const result = await runner.run('reset')
 * if (result.kind !== 'reset') throw operationError('reset', result)
 * ```
 */
export function operationError(asked: Operation, result: OperationResult): Error {
  switch (result.kind) {
    case 'busy':
      return new OperationError(
        409,
        'HTTP_OPERATION_BUSY',
        `${holder(asked, result.operation)} already in progress`,
      )
    case 'refused':
      return new OperationError(409, result.code, result.message)
    case 'layer1-failed':
      return new Layer1FailureError(result.cause, result.code)
    case 'timed-out':
      return new OperationError(
        504,
        'HTTP_OPERATION_TIMED_OUT',
        `${result.message.replace(/\.$/, '')}. Read the state queue, then retry`,
      )
    default:
      return new Error(`Operation ${asked} ended with the result of another operation: ${result.kind}`)
  }
}

/**
 * The `response` schemas of a route that runs an operation, one for each status.
 *
 * @param done body of a 200
 * @param conflict body of a 409
 *
 * @example
 * ```ts
 * const schema = { response: operationResponses(ResetAnswer, errorBody('Another operation is running')) }
 * ```
 */
export function operationResponses<Done extends TSchema, Conflict extends TSchema>(
  done: Done,
  conflict: Conflict,
) {
  return {
    ...connectionResponses(),
    200: done,
    401: unauthorizedBody(),
    403: forbiddenBody(),
    409: conflict,
    500: internalErrorBody(),
    503: orBusy(layer1FailureBody()),
    504: errorBody('No result in time. Read the state queue, then retry'),
  }
}

const rootChanges: readonly Operation[] = ['init', 'reset', 'repair', 'remove']

/** An operation that changes the root is a reset; one that meets it is refused by that name. */
function holder(asked: Operation, running: Operation): string {
  if (running === 'register' || running === 'retire' || running === 'release') return 'Change of the bond'
  if (rootChanges.includes(asked)) return 'Reset'
  if (running === 'commit') return 'Commit'
  return running === 'merge' ? 'Merge' : 'Reset'
}
