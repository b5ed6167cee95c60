export type * from './api.js'
export { type AbsenceProof, type Claim, type Client, createClient } from './client.js'
export {
  BadRequestError,
  ClientError,
  ConflictError,
  ForbiddenError,
  GoneError,
  HttpError,
  type HttpErrorInit,
  InvalidAnswerError,
  NetworkError,
  NotFoundError,
  NotServedError,
  RateLimitedError,
  RejectedError,
  RemovedError,
  ServerError,
  TimeoutError,
  TooLargeError,
  UnauthorizedError,
  UnavailableError,
  UnknownOutcomeError,
} from './errors.js'
export type { LedgerEvent } from './events.js'
export type { AwaitOptions, ClientOptions, Finality, RequestOptions } from './options.js'
export {
  headerHashOf,
  InvalidProofError,
  type Proof,
  type Trusted,
  verifyTransactionProof,
  verifyUtxoProof,
} from './proofs/index.js'
