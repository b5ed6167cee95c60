export type * from './api.js'
export { type AbsenceProof, type BridgeTransaction, type Claim, type Client, createClient } from './client.js'
export {
  BadRequestError,
  ClientError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidAnswerError,
  NetworkError,
  NotFoundError,
  NotServedError,
  RateLimitedError,
  RejectedError,
  RemovedError,
  ServerError,
  StatusError,
  type StatusErrorInit,
  TimeoutError,
  TooLargeError,
  UnavailableError,
  UnknownOutcomeError,
  WrongTokenError,
} from './errors.js'
export type { NodeEvent } from './events.js'
export type { AwaitedFinality, AwaitTxOptions, ClientOptions, NodeRequestOptions } from './options.js'
export {
  headerHashOf,
  InvalidProofError,
  type NodeProof,
  type Trusted,
  verifyTransactionProof,
  verifyUtxoProof,
} from './proofs/index.js'
