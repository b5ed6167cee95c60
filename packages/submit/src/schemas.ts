import { bodyResponses, errorBody, limitResponses, retryAfterHeader } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Body of a 200. */
export const SubmitAnswer = Type.Object(
  {
    message: Type.Literal('Successfully added the transaction to the queue'),
    id: Type.String({ description: 'Id of the entry in the queue. Not the transaction hash' }),
  },
  {
    title: 'SubmitAnswer',
    description: 'The transaction is in the queue. Validation follows',
    examples: [{ message: 'Successfully added the transaction to the queue', id: '1763791200000-0' }],
  },
)
export type SubmitAnswer = Static<typeof SubmitAnswer>

/**
 * Route schema of `POST /submit`, for OpenAPI documents. The body is described as it is sent (hex) and typed
 * as the handler receives it (bytes).
 */
export const submitSchema = {
  operationId: 'submit',
  summary: 'Enqueue a signed transaction',
  description:
    'A 200 means that the transaction is in the queue. Validation follows: look the transaction up by its hash, which is that of its body. Submitting the same transaction twice is safe.',
  tags: ['transactions'],
  consumes: ['text/plain'],
  body: Type.Unsafe<Uint8Array>(
    Type.String({
      description: 'CBOR of the transaction in hex. Surrounding white space is ignored',
      examples: ['84a400d90102818258206ad4…f5f6'],
    }),
  ),
  response: {
    ...limitResponses(),
    ...bodyResponses(),
    200: SubmitAnswer,
    400: errorBody('The body is not exactly one well-formed CBOR item in hex'),
    413: errorBody('The transaction is larger than the limit'),
    415: errorBody('The content type is not text/plain'),
    500: errorBody(
      'The queue did not accept the transaction. Retry-After is present if the queue is full',
      retryAfterHeader,
    ),
  },
}
