import type { Operation, OperationResult } from '@ratatosk/ports'
import type { TSchema } from '@sinclair/typebox'
import { Layer1FailureError, OperationError } from './errors.js'
import { layer1FailureBody } from './layer1-failure.js'
import {
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  orBusy,
  unauthorizedBody,
} from './schemas.js'

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
