import type { onRequestHookHandler } from 'fastify'
import { HttpError } from './errors.js'

/** 403: a page of another site made a browser ask. */
export class CrossSiteError extends HttpError {
  constructor() {
    super(403, 'CROSS_SITE', 'Cross-site requests are refused')
  }
}

/** A hook for what changes from one request to the next: no answer is kept, errors included. */
export const noStore: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/**
 * A hook that answers 403 where a browser says that a page of another site asks (`Sec-Fetch-Site: cross-site`). Whoever
 * asks otherwise, with curl for one, sends no such header.
 */
export const refuseCrossSite: onRequestHookHandler = (request, _reply, done) => {
  if (request.headers['sec-fetch-site']?.toString().toLowerCase() === 'cross-site') done(new CrossSiteError())
  else done()
}

/**
 * Options of a GET route that changes something: HEAD is not served, pages of other sites cannot trigger it, and no
 * answer is kept.
 *
 * @param guards hooks that judge after that, such as {@link bearerToken}
 *
 * @example
 * ```ts
 * fastify.get('/reset', { ...sideEffectingGet(bearerToken(token)), schema }, () => node.reset())
 * ```
 */
export function sideEffectingGet(...guards: readonly onRequestHookHandler[]): {
  exposeHeadRoute: false
  onRequest: onRequestHookHandler[]
} {
  return { exposeHeadRoute: false, onRequest: [noStore, refuseCrossSite, ...guards] }
}
