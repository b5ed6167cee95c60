import {
  errorBody,
  limitResponses,
  retryAfterHeader,
  transactionBody,
  transactionBodyResponses,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Body of a 200. */
export const SubmitAnswer = Type.Object(
  {
    message: Type.Literal('Successfully added the transaction to the queue'),
    id: Type.String({
      description: 'Id of the submission, for `GET /submission`. Opaque, and not the transaction hash',
    }),
  },
  {
    title: 'SubmitAnswer',
    description: 'The transaction is in the queue. Validation follows',
    examples: [
      {
        message: 'Successfully added the transaction to the queue',
        id: 'hT3x_0qLmNpR.2a.1.1.0.q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
      },
    ],
  },
)
export type SubmitAnswer = Static<typeof SubmitAnswer>

/**
 * Route schema of `POST /submit`, for OpenAPI documents.
 */
export const submitSchema = {
  operationId: 'submit',
  summary: 'Enqueue a signed transaction',
  description:
    'A 200 means that the transaction is in the queue. Validation follows: `GET /submission` returns the ' +
    'status by the `id`, `GET /tx/status` by the hash of the transaction body. Submitting the same ' +
    'transaction twice is safe.',
  tags: ['transactions'],
  ...transactionBody,
  response: {
    ...limitResponses(),
    ...transactionBodyResponses(),
    200: SubmitAnswer,
    500: errorBody(
      'The queue did not accept the transaction. Retry-After is present if the queue is full, or the ' +
        'node is overloaded',
      retryAfterHeader,
    ),
  },
}
