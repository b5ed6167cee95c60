import { HttpError, printed, type QueryValue } from '@ratatosk/http'

/** 400: a parameter that breaks its rule, repeated in the message as it was given. */
export class InvalidParameterError extends HttpError {
  /**
   * @param what the parameter's name in the message
   * @param value the parameter as it was given: missing is printed `undefined`, several values are joined by commas
   */
  constructor(what: string, value: QueryValue) {
    super(400, 'QUERY_INVALID_PARAMETER', `Invalid ${what}: ${printed(value)}`)
  }
}

/** 404: neither the mempool nor any block has the transaction. */
export class TransactionNotFoundError extends HttpError {
  constructor(id: string) {
    super(404, 'QUERY_TRANSACTION_NOT_FOUND', `Transaction not found: ${id}`)
  }
}
