import { HttpError } from './errors.js'
import { Layer1FailureError } from './layer1-failure.js'
import type { Operation, OperationResult } from './operation-result.js'

/** An operation that was not done: 409 when it cannot be now, 504 when nobody said how it ended. */
export class OperationError extends HttpError {}

/**
 * What an operation that was not done is answered with.
 *
 * | result | answer |
 * | --- | --- |
 * | `busy` | 409 `Commit already in progress`, `Merge already in progress` or `Reset already in progress` |
 * | `refused` | 409 with its message |
 * | `layer1-failed` | 503 `{ status: 'error', error, cause }` |
 * | `timed-out` | 504 with its message and what to do |
 *
 * Any other result answers another question than the one that was asked, and is an error without a status.
 *
 * @param asked the operation that was not done
 */
export function operationError(asked: Operation, result: OperationResult): Error {
  switch (result.kind) {
    case 'busy':
      return new OperationError(
        409,
        'OPERATION_BUSY',
        `${holder(asked, result.operation)} already in progress`,
      )
    case 'refused':
      return new OperationError(409, result.code, result.message)
    case 'layer1-failed':
      return new Layer1FailureError(result.cause, result.code)
    case 'timed-out':
      return new OperationError(
        504,
        'OPERATION_TIMED_OUT',
        `${result.message.replace(/\.$/, '')}. Look at the state queue, then ask again`,
      )
    default:
      return new Error(`an operation ${asked} ended as ${result.kind}`)
  }
}

/** Only cycles are told which cycle is in their way; whatever changes the root counts as a reset. */
function holder(asked: Operation, running: Operation): 'Commit' | 'Merge' | 'Reset' {
  if (asked !== 'commit' && asked !== 'merge') return 'Reset'
  if (running === 'commit') return 'Commit'
  return running === 'merge' ? 'Merge' : 'Reset'
}
