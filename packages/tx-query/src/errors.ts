import { BusyError, HttpError, hasCode } from '@ratatosk/http'

/** 404: neither the mempool nor a block contains the transaction. */
export class TransactionNotFoundError extends HttpError {
  /** @param id 64 hex digits */
  constructor(id: string) {
    super(404, 'TX_QUERY_TRANSACTION_NOT_FOUND', `Transaction not found: ${id}`)
  }
}

/** 503: the maximum number of large answers is being sent. The response has a `Retry-After` header. */
export class TooManyLargeReadsError extends BusyError {
  constructor() {
    super('TX_QUERY_TOO_MANY_LARGE_READS', 'Too many large reads in progress: retry later')
  }
}

/** Why a query was refused. */
export type TxQueryErrorCode =
  | 'TX_QUERY_INVALID_PARAMETER'
  | 'TX_QUERY_TRANSACTION_NOT_FOUND'
  | 'TX_QUERY_TOO_MANY_LARGE_READS'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isTxQueryError(value: unknown): value is HttpError & { readonly code: TxQueryErrorCode } {
  return hasCode(value, 'TX_QUERY_')
}
