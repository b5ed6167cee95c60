import { isWellFormed } from '@ratatosk/cbor'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { errorHandler } from './error-handler.js'
import { HttpError, hasCode } from './errors.js'
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
  /** The error to answer in place of one. Default: the same. */
  readonly answerAs?: (error: unknown) => unknown
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
export function readTransactionBodies(
  scope: BodyScope,
  { prefix, maxSize, answerAs = (error) => error }: TransactionBodyOptions,
) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const named = (error: unknown): unknown => {
    if (hasCode(error, 'FST_ERR_CTP_INVALID_MEDIA_TYPE')) return new UnsupportedTypeError(prefix)
    if (hasCode(error, 'FST_ERR_CTP_BODY_TOO_LARGE')) return new TransactionTooLargeError(prefix)
    return answerAs(error)
  }
  scope.setErrorHandler((error, request, reply) => errorHandler(named(error), request, reply))
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

/** The most white space accepted around the digits of a body, in bytes. */
const whiteSpaceAllowance = 1024

/**
 * The body limit of a route that reads its body with {@link hexBody}, in bytes.
 *
 * @param maxBytes bytes that the digits stand for
 */
function hexBodyLimit(maxBytes: number): number {
  return 2 * maxBytes + whiteSpaceAllowance
}

/**
 * Decodes a body of hex digits in either case, with optional white space around them. The size is checked
 * before the digits.
 *
 * @param maxBytes bytes that the digits may stand for
 * @returns the bytes; `'too large'` for more of them; `'not hex'` for anything else
 */
function hexBody(body: Buffer, maxBytes: number): Uint8Array | 'too large' | 'not hex' {
  let start = 0
  let end = body.length
  while (start < end && isWhiteSpace(body[start])) start++
  while (end > start && isWhiteSpace(body[end - 1])) end--
  if (end - start > 2 * maxBytes) return 'too large'
  // As Latin-1, each byte is one character: Node reads a wider character as the digit of its low byte.
  // Decoding stops at the first character that is not a digit, so the length shows whether all of them
  // were.
  const bytes = Buffer.from(body.toString('latin1', start, end), 'hex')
  return 2 * bytes.length === end - start ? bytes : 'not hex'
}

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}
