import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { hasCode, hasMethods, openScope, optionalInteger, readTransactionBodies } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { EnqueueError } from './errors.js'
import { submitSchema } from './schemas.js'

export { InvalidCborError, TransactionTooLargeError, UnsupportedTypeError } from '@ratatosk/http'
export { EnqueueError, isSubmitError, type SubmitErrorCode } from './errors.js'
export { SubmitAnswer, submitSchema } from './schemas.js'

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
