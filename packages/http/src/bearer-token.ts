import { createHash, timingSafeEqual } from 'node:crypto'
import type { onRequestHookHandler } from 'fastify'
import { HttpError } from './errors.js'

/** 401: no bearer token, or not the one that is asked for. */
export class UnauthorizedError extends HttpError {
  constructor() {
    super(401, 'UNAUTHORIZED', 'Unauthorized')
  }
}

/**
 * A hook that lets through whoever sends `Authorization: Bearer <expected>`, and answers everybody else 401
 * `{"error":"Unauthorized"}` with `WWW-Authenticate: Bearer`. As `onRequest` it judges before the body is read, so that
 * a stranger learns nothing from how a body is refused.
 *
 * How long it takes tells neither how much of a token is right nor how long the right one is: hashes are compared, in
 * constant time.
 *
 * @param expected the token, not empty; bytes beyond ASCII are UTF-8
 * @throws {TypeError} for an empty token
 *
 * @example
 * ```ts
 * fastify.post('/claims', { onRequest: bearerToken(process.env.TOKEN) }, handler)
 * ```
 */
export function bearerToken(expected: string): onRequestHookHandler {
  if (typeof expected !== 'string' || expected === '') throw new TypeError('a bearer token must not be empty')
  const right = digest(Buffer.from(expected, 'utf8'))
  return (request, reply, done) => {
    const [, given] = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '') ?? []
    // Node reads headers as Latin-1, whatever bytes they are.
    if (given !== undefined && timingSafeEqual(digest(Buffer.from(given, 'latin1')), right)) {
      done()
      return
    }
    reply.header('www-authenticate', 'Bearer')
    done(new UnauthorizedError())
  }
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
