import { HttpError, hasCode } from '@ratatosk/http'

/** 404: no dead letter has this submission id. */
export class DeadLetterNotFoundError extends HttpError {
  constructor(submissionId: string) {
    super(404, 'DEAD_LETTERS_NOT_FOUND', `Dead letter not found: ${submissionId}`)
  }
}

/** 409: the letter cannot be replayed, because retention has dropped its CBOR. */
export class DeadLetterDroppedError extends HttpError {
  constructor(submissionId: string) {
    super(
      409,
      'DEAD_LETTERS_CBOR_DROPPED',
      `The CBOR of dead letter ${submissionId} is no longer kept: submit the transaction again`,
    )
  }
}

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isDeadLettersError(value: unknown): value is HttpError {
  return hasCode(value, 'DEAD_LETTERS_')
}
