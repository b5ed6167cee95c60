import { HttpError } from './errors.js'
import { Layer1FailureError } from './layer1-failure.js'

/** What an operator asks of a node, one at a time. */
export type Operation = 'init' | 'commit' | 'merge' | 'reset' | 'repair'

/** How an operation may end without having been done. */
export type OperationFailure =
  /** Another operation runs. */
  | { readonly kind: 'busy'; readonly operation: Operation }
  /** It cannot be done as things stand; the message is for the client. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** `cause` is one of {@link layer1Causes}; any other is answered as `unknown`. */
  | { readonly kind: 'layer1-failed'; readonly cause: string; readonly code: string }
  /** No result within the time given; the message is for the client. It may be done all the same. */
  | { readonly kind: 'timed-out'; readonly message: string }

/** An operation that was not done: 409 when it cannot be now, 504 when nobody said how it ended. */
export class OperationError extends HttpError {}

/**
 * What an operation that was not done is answered with.
 *
 * | failure | answer |
 * | --- | --- |
 * | `busy` | 409 `Commit already in progress`, `Merge already in progress` or `Reset already in progress` |
 * | `refused` | 409 with its message |
 * | `layer1-failed` | 503 `{ status: 'error', error, cause }` |
 * | `timed-out` | 504 with its message and what to do |
 *
 * @param asked the operation that was not done
 */
export function operationError(asked: Operation, failure: OperationFailure): HttpError {
  switch (failure.kind) {
    case 'busy':
      return new OperationError(
        409,
        'OPERATION_BUSY',
        `${holder(asked, failure.operation)} already in progress`,
      )
    case 'refused':
      return new OperationError(409, failure.code, failure.message)
    case 'layer1-failed':
      return new Layer1FailureError(failure.cause, failure.code)
    case 'timed-out':
      return new OperationError(
        504,
        'OPERATION_TIMED_OUT',
        `${failure.message.replace(/\.$/, '')}. It may still be done: look at the state queue before you ask again`,
      )
  }
}

/** Only cycles are told which cycle is in their way; whatever changes the root counts as a reset. */
function holder(asked: Operation, running: Operation): 'Commit' | 'Merge' | 'Reset' {
  if (asked !== 'commit' && asked !== 'merge') return 'Reset'
  if (running === 'commit') return 'Commit'
  return running === 'merge' ? 'Merge' : 'Reset'
}
