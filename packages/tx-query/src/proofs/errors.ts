import { HttpError, hasCode } from '@ratatosk/http'

/** 400: `at` is unknown, or given together with `header_hash`. */
export class InvalidStateError extends HttpError {
  constructor() {
    super(400, 'PROOFS_INVALID_STATE', 'Send either header_hash, or at=confirmed or at=committed')
  }
}

/** 404: no committed block fits. */
export class NoBlockError extends HttpError {
  constructor(what: string) {
    super(404, 'PROOFS_NO_BLOCK', what)
  }
}

/** 410: the state is too old: the node no longer has its tree. */
export class NotKeptError extends HttpError {
  /** @param isConfirmed whether the block is the newest confirmed one, for a request that names none */
  constructor(isConfirmed = false) {
    super(
      410,
      'PROOFS_NOT_KEPT',
      isConfirmed
        ? 'The node no longer keeps the unspent outputs after the newest confirmed block: ask with ' +
            'at=committed, or let its operator raise PROOF_BLOCKS'
        : 'The node no longer keeps the unspent outputs after this block: ask for a newer block',
    )
  }
}

/** Why there is no proof. */
export type ProofsErrorCode =
  | 'PROOFS_INVALID_PARAMETER'
  | 'PROOFS_INVALID_STATE'
  | 'PROOFS_NO_BLOCK'
  | 'PROOFS_NOT_KEPT'
  | 'PROOFS_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isProofsError(value: unknown): value is HttpError & { readonly code: ProofsErrorCode } {
  return hasCode(value, 'PROOFS_')
}
