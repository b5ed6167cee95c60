import { errorBody, internalErrorBody, limitResponses } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Everything that a transaction can be, in the order in which it gets there. */
export const statuses = [
  'unknown',
  'queued',
  'validating',
  'mempool',
  'built',
  'submitted',
  'committed',
  'mature',
  'merged',
  'removed',
  'rejected',
] as const

const hash = (description: string) => Type.String({ description, pattern: '^[0-9a-f]{64}$' })
const headerHash = Type.String({ description: 'Header hash', pattern: '^[0-9a-f]{56}$' })
const time = (description: string) => Type.String({ format: 'date-time', description })

/** The status of a transaction. */
export const Status = Type.Unsafe<(typeof statuses)[number]>({
  type: 'string',
  enum: statuses,
  title: 'Status',
  description: [
    '`unknown`: neither accepted nor rejected here, as far as the node can tell',
    '`queued`: in the queue',
    '`validating`: delivered to validation at least once, without a verdict so far',
    '`mempool`: accepted, in no block',
    '`built`: in a block that is not sent to layer 1',
    '`submitted`: in a block whose layer-1 transaction is sent',
    '`committed`: in a block of the state queue',
    '`mature`: in a block whose maturity window is over',
    '`merged`: in a block of the confirmed state',
    '`removed`: taken out of the ledger, because layer 1 has removed its block or one before it',
    '`rejected`: refused for good, or dropped because no block could hold it',
  ].join('; '),
})

/** The block that contains a transaction. */
export const StatusBlock = Type.Object(
  {
    height: Type.Integer({ minimum: 1 }),
    headerHash,
    position: Type.Integer({
      minimum: 0,
      description: 'Position of the transaction in the block, from 0, as in a proof',
    }),
    commitTxHash: Type.Optional(
      hash('Layer-1 transaction that commits the block; absent if another operator did'),
    ),
    mergeTxHash: Type.Optional(hash('Layer-1 transaction that merges the block, once it is signed')),
    endTime: time('End of the block'),
    maturesAt: Type.Optional(time('From when on the block may be merged')),
  },
  { title: 'StatusBlock', description: 'The block that contains a transaction' },
)

/** How the removal of a block took a transaction out of the ledger. */
export const StatusRemoval = Type.Object(
  {
    height: Type.Optional(Type.Integer({ minimum: 1, description: 'Of the block' })),
    headerHash: Type.Optional(headerHash),
    removedAt: time('When the block was removed'),
    resubmittedAs: Type.Optional(
      Type.String({ description: 'Id of the submission by which the node brought it back to the queue' }),
    ),
  },
  {
    title: 'StatusRemoval',
    description:
      'The removed block that contained a transaction; without height and header hash, the ' +
      'transaction was accepted after the block and in no block',
  },
)

/** One failed predicate of the ledger. */
export const StatusFailure = Type.Object(
  {
    predicate: Type.String({ description: 'Name of the predicate, such as FeeTooSmallUTxO' }),
    message: Type.String({ description: 'The reason, for people' }),
    details: Type.Optional(Type.Unknown({ description: 'Details of the failure' })),
  },
  { title: 'StatusFailure', description: 'A failed predicate of the ledger' },
)

/** Why a transaction was rejected. */
export const StatusRejection = Type.Object(
  {
    code: Type.String({ description: 'Name of the first failed predicate' }),
    reason: Type.String({ description: 'The reason, for people' }),
    failures: Type.Array(StatusFailure, { description: 'All failed predicates' }),
    attempts: Type.Integer({ minimum: 0, description: 'Deliveries to validation' }),
    count: Type.Integer({ minimum: 1, description: 'Rejected submissions of the same bytes' }),
    submittedAt: time('When the newest of them was submitted'),
    firstRejectedAt: time('When the oldest of them was rejected'),
    rejectedAt: time('When the newest of them was rejected'),
  },
  { title: 'StatusRejection', description: 'Why a transaction was rejected' },
)

const fields = {
  status: Status,
  acceptedAt: Type.Optional(time('When validation accepted the transaction')),
  block: Type.Optional(StatusBlock),
  removal: Type.Optional(StatusRemoval),
  rejection: Type.Optional(StatusRejection),
  submittedAt: Type.Optional(time('When it was submitted, while it is queued or validating')),
  attempts: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Deliveries that ended without a verdict, while it is queued or validating',
    }),
  ),
}

/** Body of `GET /tx/status`. */
export const TransactionStatusAnswer = Type.Object(
  { txHash: hash('Transaction hash'), ...fields },
  { title: 'TransactionStatus', description: 'The status of a transaction' },
)
export type TransactionStatusAnswer = Static<typeof TransactionStatusAnswer>

/** Body of `GET /tx/statuses`. */
export const TransactionStatusesAnswer = Type.Object(
  { statuses: Type.Array(TransactionStatusAnswer, { description: 'One for each hash, in their order' }) },
  { title: 'TransactionStatuses', description: 'The statuses of some transactions' },
)

/** Body of `GET /submission`. */
export const SubmissionStatusAnswer = Type.Object(
  {
    id: Type.String({ description: 'The submission id' }),
    txHash: Type.Optional(
      hash('Transaction hash; absent if the id is unknown, or the submission is no transaction'),
    ),
    ...fields,
  },
  { title: 'SubmissionStatus', description: 'The status of a submission' },
)
export type SubmissionStatusAnswer = Static<typeof SubmissionStatusAnswer>

/** Query of `GET /tx/status`, as the handler receives it. */
export interface TransactionStatusQuery {
  /** 32 bytes. */
  readonly hash: Uint8Array
}

/** The most hashes in a `GET /tx/statuses`. */
export const mostHashes = 100

/** Query of `GET /tx/statuses`, as the handler receives it. */
export interface TransactionStatusesQuery {
  /** 32 bytes each. */
  readonly hashes: readonly Uint8Array[]
}

/** Query of `GET /submission`, as the handler receives it. */
export interface SubmissionStatusQuery {
  readonly id: string
}

const refusals = {
  ...limitResponses(),
  400: errorBody('The parameter is invalid; the message says what to send instead'),
  500: internalErrorBody(),
}

/** Route schema of `GET /tx/status`, for OpenAPI documents. */
export const transactionStatusSchema = {
  operationId: 'getTransactionStatus',
  summary: 'Status of a transaction',
  description:
    'For a transaction that was submitted more than once, the most advanced submission counts. The status ' +
    'only moves on, except after a removal, a roll-back of layer 1, or a new submission of a rejected ' +
    'transaction.',
  tags: ['transactions'],
  querystring: Type.Unsafe<TransactionStatusQuery>(
    Type.Object({ tx_hash: Type.String({ description: '64 hex digits', pattern: '^[0-9a-fA-F]{64}$' }) }),
  ),
  response: { 200: TransactionStatusAnswer, ...refusals },
}

/** Route schema of `GET /tx/statuses`, for OpenAPI documents. */
export const transactionStatusesSchema = {
  operationId: 'getTransactionStatuses',
  summary: 'Statuses of some transactions',
  description: 'The answer of `GET /tx/status` for each of them.',
  tags: ['transactions'],
  querystring: Type.Unsafe<TransactionStatusesQuery>(
    Type.Object({
      tx_hash: Type.String({ description: `Up to ${mostHashes} transaction hashes, separated by commas` }),
    }),
  ),
  response: { 200: TransactionStatusesAnswer, ...refusals },
}

/** Route schema of `GET /submission`, for OpenAPI documents. */
export const submissionStatusSchema = {
  operationId: 'getSubmissionStatus',
  summary: 'Status of a submission',
  description:
    'A rejected submission stays rejected, unless it lost an input to a transaction that the ledger has ' +
    'undone since: the node submits it again. Then, and once accepted, it has the status of its transaction.',
  tags: ['transactions'],
  querystring: Type.Unsafe<SubmissionStatusQuery>(
    Type.Object({
      id: Type.String({ minLength: 1, maxLength: 200, description: 'Id that `POST /submit` answered' }),
    }),
  ),
  response: { 200: SubmissionStatusAnswer, ...refusals },
}
