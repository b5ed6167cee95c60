import { errorBody } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Body of a 200: the transaction waits in the queue; whether it is valid is found out afterwards. */
export const Submission = Type.Object(
  {
    message: Type.Literal('Successfully added the transaction to the queue'),
    id: Type.String({ description: 'Id of the entry in the queue; not the hash of the transaction' }),
  },
  { title: 'Submission' },
)
export type Submission = Static<typeof Submission>

/**
 * Schema of `POST /submit`. The body is described as it is sent (hex) and typed as the handler sees it (bytes).
 */
export const submitSchema = {
  operationId: 'submit',
  summary: 'Enqueue a signed transaction',
  tags: ['transactions'],
  consumes: ['text/plain'],
  body: Type.Unsafe<Uint8Array>(
    Type.String({ description: 'CBOR of the transaction in hex; white space around it is ignored' }),
  ),
  response: {
    200: Submission,
    400: errorBody('Not one well-formed CBOR item in hex'),
    413: errorBody('Larger than a transaction may be'),
    415: errorBody('Not text/plain'),
    500: errorBody('The queue did not take it'),
  },
}
