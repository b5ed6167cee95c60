import {
  bodyResponses,
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  pathResponses,
  unauthorizedBody,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

const submissionId = Type.String({
  description: 'Id of the latest submission, as `POST /submit` answered it',
})

const listed = {
  id: submissionId,
  digest: Type.String({
    description: 'SHA-256 of the submitted bytes, 64 hex digits; it stays when they are rejected again',
  }),
  txHash: Type.Optional(
    Type.String({ description: 'Transaction id, 64 hex digits; absent if the submission does not decode' }),
  ),
  code: Type.String({ description: 'Name of the first failed predicate, such as FeeTooSmallUTxO' }),
  reason: Type.String({ description: 'The reason, for people' }),
  attempts: Type.Integer({ minimum: 0, description: 'Deliveries of the latest submission' }),
  count: Type.Integer({ minimum: 1, description: 'Rejected submissions of the same transaction' }),
  submittedAt: Type.String({ format: 'date-time' }),
  rejectedAt: Type.String({ format: 'date-time' }),
  replayedAs: Type.Optional(Type.String({ description: 'Id of the submission of the latest replay' })),
}

/** One dead letter of a list. */
export const DeadLetterSummary = Type.Object(listed, {
  title: 'DeadLetterSummary',
  description: 'A transaction that validation rejected for good',
})
export type DeadLetterSummary = Static<typeof DeadLetterSummary>

/** Body of `GET /deadLetters`. */
export const DeadLetterPage = Type.Object(
  {
    deadLetters: Type.Array(DeadLetterSummary, { description: 'Newest first' }),
    before: Type.Optional(
      Type.String({ description: 'Pass it as `before` for the next page; absent on the last page' }),
    ),
  },
  { title: 'DeadLetterPage', description: 'A page of dead letters' },
)
export type DeadLetterPage = Static<typeof DeadLetterPage>

/** Body of `GET /deadLetters/{id}`. */
export const DeadLetterAnswer = Type.Object(
  {
    ...listed,
    cbor: Type.Optional(
      Type.String({
        description: 'The transaction as submitted, in hex; absent once retention has dropped it',
      }),
    ),
    details: Type.Unknown({ description: 'All failed predicates with their details' }),
  },
  { title: 'DeadLetter', description: 'A dead letter with everything that is kept of it' },
)
export type DeadLetterAnswer = Static<typeof DeadLetterAnswer>

/** Body of `POST /deadLetters/{id}/replay`. */
export const Replayed = Type.Object(
  { id: Type.String({ description: 'Id of the new submission' }) },
  {
    title: 'Replayed',
    description: 'The transaction is in the queue again; the dead letter stays and names the new submission',
  },
)
export type Replayed = Static<typeof Replayed>

const refusals = {
  ...connectionResponses(),
  401: unauthorizedBody(),
  403: forbiddenBody(),
  500: internalErrorBody(),
}
const params = Type.Object({ id: submissionId })
const notFound = errorBody('No dead letter has this submission id')

/** Route schema of `GET /deadLetters`, for OpenAPI documents. */
export const listSchema = {
  operationId: 'listDeadLetters',
  summary: 'List rejected transactions, newest first',
  description: 'One entry for the same bytes, however often they were submitted.',
  tags: ['operator'],
  querystring: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    before: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,18}$', description: '`before` of the page before' }),
    ),
  }),
  response: { 200: DeadLetterPage, 400: errorBody('A parameter is invalid'), ...refusals },
}

/** Route schema of `GET /deadLetters/{id}`, for OpenAPI documents. */
export const showSchema = {
  operationId: 'showDeadLetter',
  summary: 'Show a rejected transaction',
  description: 'With its bytes, as long as these are kept, and all failed predicates.',
  tags: ['operator'],
  params,
  response: { 200: DeadLetterAnswer, 404: notFound, ...pathResponses(), ...refusals },
}

/** Route schema of `POST /deadLetters/{id}/replay`, for OpenAPI documents. */
export const replaySchema = {
  operationId: 'replayDeadLetter',
  summary: 'Submit a rejected transaction again',
  description: 'The dead letter stays and names the new submission.',
  tags: ['operator'],
  params,
  response: {
    200: Replayed,
    404: notFound,
    ...pathResponses(),
    409: errorBody('The CBOR of the dead letter is no longer kept'),
    ...bodyResponses(),
    ...refusals,
  },
}

/** Route schema of `DELETE /deadLetters/{id}`, for OpenAPI documents. */
export const dropSchema = {
  operationId: 'dropDeadLetter',
  summary: 'Remove a dead letter',
  description: 'The node forgets it, its reason included.',
  tags: ['operator'],
  params,
  response: {
    204: Type.Null({ description: 'The dead letter is removed' }),
    404: notFound,
    ...pathResponses(),
    ...bodyResponses(),
    ...refusals,
  },
}
