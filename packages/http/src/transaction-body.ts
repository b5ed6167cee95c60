import { isWellFormed } from '@ratatosk/cbor'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { errorHandler } from './error-handler.js'
import { HttpError } from './errors.js'
import { hexBody, hexBodyLimit } from './hex-body.js'
import { readBy } from './query.js'
import { bodyResponses, errorBody } from './schemas.js'

/** 400: the body is not exactly one well-formed CBOR item in hex. */
export class InvalidCborError extends HttpError {
  constructor(prefix: string) {
    super(400, `${prefix}_INVALID_CBOR`, 'Invalid CBOR provided')
  }
}

/** 413: the body has more hex digits than the largest transaction. */
export class TransactionTooLargeError extends HttpError {
  constructor(prefix: string) {
    super(413, `${prefix}_TOO_LARGE`, 'Request body is too large')
  }
}

/** 415: the content type is not `text/plain`, or is missing. */
export class UnsupportedTypeError extends HttpError {
  constructor(prefix: string) {
    super(
      415,
      `${prefix}_UNSUPPORTED_TYPE`,
      'Unsupported Media Type: send the hex digits with the header Content-Type: text/plain',
    )
  }
}

/** The parts of a server that {@link readTransactionBodies} changes. */
export interface BodyScope {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: 'text/plain',
    options: { parseAs: 'buffer' },
    parse: (
      request: FastifyRequest,
      body: Buffer,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown
  setErrorHandler(
    handler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
  ): unknown
}

/** How transactions are read. */
export interface TransactionBodyOptions {
  /** With what the codes of errors begin, such as `SUBMIT`. */
  readonly prefix: string
  /** The largest transaction, in bytes of CBOR. */
  readonly maxSize: number
}

/**
 * Makes the routes of an encapsulated scope read their body as one CBOR item: hex digits in either case as
 * `text/plain`, with optional white space around them. Sets the scope's parsers and its error handler, which
 * is {@link errorHandler} otherwise.
 *
 * @returns options of the routes, whose `body` is the CBOR. They answer {@link InvalidCborError},
 *   {@link TransactionTooLargeError} and
 *   {@link UnsupportedTypeError}.
 *
 * @example
 * ```ts
 * const reading = readTransactionBodies(fastify, { prefix: 'SHOP', maxSize: 16_384 })
 * const schema = { ...transactionBody, response: transactionBodyResponses() }
 * fastify.post('/pay', { schema, ...reading }, handler)
 * ```
 */
export function readTransactionBodies(scope: BodyScope, { prefix, maxSize }: TransactionBodyOptions) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  scope.setErrorHandler((error, request, reply) =>
    errorHandler(isUnsupportedType(error) ? new UnsupportedTypeError(prefix) : error, request, reply),
  )
  const read = (body: Buffer | null): Uint8Array => {
    // Neither a content type nor a body.
    if (body === null) throw new UnsupportedTypeError(prefix)
    const cbor = hexBody(body, maxSize)
    if (cbor === 'too large') throw new TransactionTooLargeError(prefix)
    if (cbor === 'not hex' || !isWellFormed(cbor)) throw new InvalidCborError(prefix)
    return cbor
  }
  const validatorCompiler: FastifySchemaCompiler<unknown> = readBy(read)
  return { validatorCompiler, bodyLimit: hexBodyLimit(maxSize) }
}

function isUnsupportedType(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
}

/**
 * Part of the schema of a route that reads a transaction: described as it is sent (hex), typed as the handler
 * receives it (bytes).
 */
export const transactionBody = {
  consumes: ['text/plain'],
  body: Type.Unsafe<Uint8Array>(
    Type.String({
      description: 'CBOR of the transaction in hex. Surrounding white space is ignored',
      examples: ['84a400d90102818258206ad4…f5f6'],
    }),
  ),
}

/** The `response` schemas of {@link transactionBody}. */
export function transactionBodyResponses() {
  return {
    ...bodyResponses(),
    400: errorBody('The body is not exactly one well-formed CBOR item in hex'),
    413: errorBody('The transaction is larger than the limit'),
    415: errorBody('The content type is not text/plain'),
  }
}
