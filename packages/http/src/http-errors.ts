import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { answerError, errorHandler, notFoundHandler, watchHandler } from './error-handler.js'
import { HttpError } from './errors.js'
import { checkOptions } from './options.js'
import { noteOperationIds } from './plugin-scope.js'
import type { ErrorBody } from './schemas.js'

/** Errors that Node's parser reports before a request exists; every other one is answered 400. */
const statusOf: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Node's error for bytes that are not a request. */
export interface RequestError extends Error {
  readonly code?: string
  /** A `Buffer`, which Fastify declares as its JSON form. */
  readonly rawPacket?: unknown
}

/** How long a refused client may take to read its response and close the connection, in milliseconds. */
const lingerMs = 1000

/** The response to the latest request of each connection of a server with {@link httpErrors}. */
const responses = new WeakMap<Socket, ServerResponse>()

/** Whether a second response would end up inside of this one. */
function isHalfSent(response: ServerResponse | undefined): boolean {
  return response?.headersSent === true && !response.writableFinished
}

/**
 * Answers bytes that are not a request: too slow (408), headers too large (431), not HTTP (400; the body
 * names a query parameter that is not percent-encoded). For Fastify's option `clientErrorHandler`. Closes the
 * connection, because the start of the next request is unknown; closes it without a response if another one
 * is half sent.
 */
export function clientErrorHandler(error: RequestError, socket: Socket): void {
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || isHalfSent(responses.get(socket))) {
    socket.destroy(error)
    return
  }
  // Closed in stages (RFC 9112, section 9.6): a reset could reach the client before it has read the response.
  const parameter = unencodedParameter(error)
  const hint = parameter === undefined ? '' : `: percent-encode the value of ${parameter}`
  socket.end(rawAnswer(statusOf[error.code ?? ''] ?? 400, hint))
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(linger))
}

/**
 * Options of `fastify()` that make errors outside of routes JSON too; the plugin {@link httpErrors} does the
 * rest.
 *
 * Node answers a missing `Host` header without a body, so its check is switched off and done in the plugin.
 *
 * @example
 * ```ts
 * const server = fastify({ ...httpErrorOptions })
 * ```
 */
export const httpErrorOptions = {
  clientErrorHandler,
  frameworkErrors: answerError,
  http: { requireHostHeader: false },
} satisfies FastifyHttpOptions<Server>

/**
 * Fastify plugin for a whole server: every error body is `{ "error": string, … }`, and every path that is not
 * served gets the same 404.
 *
 * @example
 * ```ts
 * const server = fastify({ ...httpErrorOptions })
 * await server.register(httpErrors)
 * ```
 */
export const httpErrors = fp(
  async (fastify: FastifyInstance, options: object) => {
    checkOptions('@ratatosk/http', {}, options)
    fastify.setErrorHandler(errorHandler)
    fastify.addHook('onRoute', watchHandler)
    noteOperationIds(fastify)
    fastify.setNotFoundHandler(notFoundHandler)
    fastify.server.on('checkExpectation', refuseExpectation)
    // RFC 9112, section 3.2: an HTTP/1.1 request without a Host header is answered 400.
    fastify.addHook('onRequest', (request, reply, done) => {
      responses.set(request.raw.socket, reply.raw)
      const { headers } = request
      if (headers.host === undefined && request.raw.httpVersion === '1.1')
        done(new HttpError(400, 'HTTP_HOST_MISSING', 'Missing Host header'))
      else if (!request.is404 && hasEncodedBody(headers)) {
        // RFC 9110, section 15.5.16.
        reply.header('accept-encoding', 'identity')
        done(new EncodedBodyError())
      } else done()
    })
  },
  { name: '@ratatosk/http', fastify: '5.x' },
)

function hasEncodedBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-encoding': encoding = '', 'content-length': length = '0' } = headers
  const hasBody = headers['transfer-encoding'] !== undefined || length !== '0'
  return hasBody && !/^\s*(?:identity\s*)?$/i.test(encoding)
}

/** 415: a body is compressed, and no server decompresses it: a little could become much. */
class EncodedBodyError extends HttpError {
  constructor() {
    super(
      415,
      'HTTP_ENCODED_BODY',
      'Unsupported Media Type: send the body as it is, without the header Content-Encoding',
    )
  }
}

/** RFC 9110, section 10.1.1: `100-continue` is the only known expectation. Node's own 417 has no body. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: 'Expectation Failed' } satisfies ErrorBody)
  response
    .writeHead(417, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}

/** The query parameter whose value has a space or a byte that a URL must encode, if that is what is wrong. */
function unencodedParameter({ code, rawPacket }: RequestError): string | undefined {
  if (code !== 'HPE_INVALID_URL' && code !== 'HPE_INVALID_CONSTANT') return undefined
  if (!Buffer.isBuffer(rawPacket)) return undefined
  const [line = ''] = rawPacket.toString('latin1', 0, 8192).split('\r\n', 1)
  const [, query, rest] = /^[A-Z]+ [^\s?]*\?([!-~]*)([^!-~].*)$/.exec(line) ?? []
  if (query === undefined || rest === undefined || /^ \S*$/.test(rest)) return undefined
  return /^([\w.-]{1,64})=/.exec(query.slice(query.lastIndexOf('&') + 1))?.[1]
}

/** @param hint follows the reason in the body */
function rawAnswer(statusCode: number, hint: string): string {
  const reason = STATUS_CODES[statusCode] ?? ''
  const body = JSON.stringify({ error: `${reason}${hint}` } satisfies ErrorBody)
  return [
    `HTTP/1.1 ${statusCode} ${reason}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
