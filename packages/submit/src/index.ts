import { inspect, types } from 'node:util'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  errorBody,
  HttpError,
  hasCode,
  hasMethods,
  limitResponses,
  openScope,
  optionalInteger,
  readTransactionBodies,
  retryAfterHeader,
  retryAfterSeconds,
  transactionBody,
  transactionBodyResponses,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'

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

/**
 * 500: the queue did not accept the transaction, or the server is overloaded. Their error is the `cause`, or
 * one that quotes a value that is no error. If it has a positive number `retryAfterMs`, the response has a
 * `Retry-After` header, in seconds.
 */
export class EnqueueError extends HttpError {
  constructor(cause: unknown) {
    const seconds = retryAfterSeconds(cause)
    super(500, 'SUBMIT_ENQUEUE_FAILED', 'Failed to enqueue transaction', {
      cause: errorOf(cause),
      ...(hasCode(cause, 'HTTP_OVERLOADED') && { quiet: true }),
      ...(seconds !== undefined && { headers: { 'retry-after': String(seconds) } }),
    })
  }
}

/** A queue in JavaScript may reject with any value, and the log shows only errors. */
function errorOf(cause: unknown): Error {
  if (cause instanceof Error || types.isNativeError(cause)) return cause
  return new TypeError(`queue.add rejected with a value that is no error: ${inspect(cause)}`)
}

/** Why a submission was refused. */
export type SubmitErrorCode =
  | 'SUBMIT_INVALID_CBOR'
  | 'SUBMIT_TOO_LARGE'
  | 'SUBMIT_UNSUPPORTED_TYPE'
  | 'SUBMIT_ENQUEUE_FAILED'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isSubmitError(value: unknown): value is HttpError & { readonly code: SubmitErrorCode } {
  return hasCode(value, 'SUBMIT_')
}

export { InvalidCborError, TransactionTooLargeError, UnsupportedTypeError } from '@ratatosk/http'

/**
 * The queue that receives submitted transactions; `createSubmissionQueue` of `@ratatosk/queue` satisfies it.
 */
export interface TransactionQueue {
  /**
   * Adds one well-formed CBOR item, which is not necessarily a transaction.
   *
   * @returns the id of the entry, once the queue guarantees it: the client is answered 200 then
   * @throws any error when the queue does not accept the item. A positive number `retryAfterMs` on the error
   *   becomes the `Retry-After` header of the response.
   */
  add(cbor: Uint8Array): Promise<string>
}

/** Options of {@link submit}. */
export interface SubmitOptions extends RegisterOptions {
  /** Receives submitted transactions. */
  queue: TransactionQueue
  /** The largest accepted transaction, in bytes of CBOR. Default: 16,384. */
  maxTransactionSize?: number | undefined
}

const name = '@ratatosk/submit'
const rules = { queue: hasMethods('add'), maxTransactionSize: optionalInteger(1) }

/** An overloaded node answers like a queue that is full; a host chooses its own answer. */
const answerAs = (error: unknown) => (hasCode(error, 'HTTP_OVERLOADED') ? new EnqueueError(error) : error)

const plugin: FastifyPluginAsyncTypebox<SubmitOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { queue, maxTransactionSize = 16_384 } = options

  const reading = readTransactionBodies(fastify, { prefix: 'SUBMIT', maxSize: maxTransactionSize, answerAs })
  fastify.post('/submit', { schema: submitSchema, ...reading }, async (request) => {
    try {
      return {
        message: 'Successfully added the transaction to the queue' as const,
        id: checkedId(await queue.add(request.body)),
      }
    } catch (error) {
      throw new EnqueueError(error)
    }
  })
}

/** A client could not ask for the status by any other id. @throws {TypeError} for a queue that returns one */
function checkedId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id
  throw new TypeError('queue.add must resolve to the id of the entry, a string that is not empty')
}

/**
 * Fastify plugin: `POST /submit` adds signed transactions, sent as hex of their CBOR, to a queue.
 *
 * Encapsulated: it sets a parser and an error handler in its own scope, and one server can hold several
 * instances, each under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(submit, { queue: { add: async (cbor) => String(entries.push(cbor)) } })
 * ```
 */
export const submit = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default submit
