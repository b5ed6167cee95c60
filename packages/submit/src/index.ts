import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { errorHandler, readBy } from '@ratatosk/http'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { EnqueueError } from './errors.js'
import { hexBodyReader, whiteSpaceAllowance } from './hex-body.js'
import { submitSchema } from './schemas.js'

export {
  EnqueueError,
  InvalidCborError,
  MissingContentTypeError,
  TransactionTooLargeError,
} from './errors.js'
export { Submission, submitSchema } from './schemas.js'

/** Where submitted transactions go. */
export interface SubmissionQueue {
  /**
   * Takes one well-formed CBOR item, which need not be a transaction.
   *
   * @returns the id of the entry, once the queue answers for it: the client is told 200 then
   */
  add(cbor: Uint8Array): Promise<string>
}

export interface SubmitOptions extends RegisterOptions {
  /** Where submitted transactions go. */
  queue: SubmissionQueue
  /** The largest transaction taken, in bytes of CBOR. Default: 16,384. */
  maxTransactionSize?: number
}

const plugin: FastifyPluginAsyncTypebox<SubmitOptions> = async (fastify, options) => {
  const { queue, maxTransactionSize = 16_384 } = options
  if (typeof queue?.add !== 'function') throw new TypeError('@ratatosk/submit: queue.add must be a function')
  if (!Number.isSafeInteger(maxTransactionSize) || maxTransactionSize < 1) {
    throw new TypeError('@ratatosk/submit: maxTransactionSize must be a positive integer')
  }

  fastify.setErrorHandler(errorHandler)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  fastify.post(
    '/submit',
    {
      schema: submitSchema,
      validatorCompiler: readBy(hexBodyReader(maxTransactionSize)),
      bodyLimit: 2 * maxTransactionSize + whiteSpaceAllowance,
    },
    async (request) => {
      try {
        return {
          message: 'Successfully added the transaction to the queue' as const,
          id: await queue.add(request.body),
        }
      } catch (error) {
        throw new EnqueueError(error)
      }
    },
  )
}

/**
 * Fastify plugin: `POST /submit` takes signed transactions, as hex of their CBOR, into a queue.
 *
 * It is encapsulated: parser and error handler are its own, and several instances fit into one server, each under its
 * `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(submit, { queue: { add: async (cbor) => String(entries.push(cbor)) } })
 * ```
 */
export const submit = fp(plugin, { name: '@ratatosk/submit', fastify: '5.x', encapsulate: true })

export default submit
