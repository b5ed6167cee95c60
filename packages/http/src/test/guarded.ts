import fastify, { type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import {
  bearerToken,
  httpErrors,
  noStore,
  type OperatorAccess,
  operatorGuards,
  sideEffectingGet,
} from '../index.js'

export const unauthorized = '{"error":"Unauthorized"}'
export const crossSite = '{"error":"Cross-site requests are refused"}'
export const hostNotAllowed =
  '{"error":"Host not allowed: use a loopback address or a host name that the server is configured for"}'
export const authorization = 'Bearer open sesame'

/** A server with a guarded POST, a GET that changes state and a debug GET; records what reached a handler. */
export async function build(
  t: Test,
  access: OperatorAccess = { operatorToken: 'open sesame' },
  options: FastifyServerOptions = {},
) {
  const server = fastify({ bodyLimit: 64, ...options })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  const done: string[] = []
  server.post('/claims', { onRequest: bearerToken(access.operatorToken ?? 'open sesame') }, async () => {
    done.push('claim')
    return {}
  })
  server.get('/reset', sideEffectingGet(access), async () => {
    done.push('reset')
    return {}
  })
  server.get('/globals', { onRequest: operatorGuards(access) }, async () => {
    done.push('globals')
    return {}
  })
  server.get('/tip', { onRequest: noStore }, async () => ({}))
  return { server, done }
}
