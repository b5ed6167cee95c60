import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { entityTag, errorHandler, hasEntityTag, noStore, openScope, sameOriginOnly } from '@ratatosk/http'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'

/** The types of the files of the bundle, by the ends of their names. */
const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Routes of other plugins without which a page, or a part of one, is hidden. */
const pageRoutes = [
  'GET /events',
  'GET /verdicts',
  'POST /summon',
  'GET /deadLetters',
  'GET /bridge',
  'POST /evaluate',
  'GET /proofs/transaction',
  'GET /explorer/output/:ref',
  'GET /archivist/block/:id',
  'GET /l2/blockfrost/api/v0/addresses/*',
  'GET /dev-wallet.js',
  'POST /devnet/roll-back',
  'POST /devnet/addresses/topup',
  'GET /devnet/outputs',
] as const
export type PageRoute = (typeof pageRoutes)[number]

/** Scripts, styles and data of the same origin only, and nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface File {
  readonly text: Buffer
  /** Made for the first request, not at the start. */
  readonly gzipped: () => Promise<Buffer>
  readonly tag: string
  readonly type: string
}

const bundle = new URL('../../bundle/', import.meta.url)

/** Reads a file of the bundle, which a build makes after compilation. */
async function load(name: string): Promise<File> {
  const text = await readFile(new URL(name, bundle))
  const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  let made: Promise<Buffer> | undefined
  const gzipped = () => (made ??= promisify(gzip)(text, { level: 9 }))
  return { text, gzipped, tag: entityTag(text), type }
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, gzipped, tag, type }: File,
): Promise<FastifyReply> {
  reply.headers({
    etag: tag,
    'cache-control': 'no-cache',
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'accept-encoding',
  })
  if (hasEntityTag(request, tag)) return reply.code(304).send()
  reply.type(type)
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(await gzipped())
}

const pluginName = '@ratatosk/explorer/console'

const plugin: FastifyPluginAsync = async (fastify, options) => {
  openScope(fastify, pluginName, {}, options)
  fastify.setErrorHandler(errorHandler)
  // The files of a page are no API.
  const schema: FastifySchema & { readonly hide: true } = { hide: true }
  const route = { exposeHeadRoute: false, config: sameOriginOnly, schema }
  for (const name of await readdir(bundle)) {
    const file = await load(name)
    const path = name === 'index.html' ? '/console' : `/console/${name}`
    fastify.get(path, route, (request, reply) => send(request, reply, file))
  }
  // The page's links are relative to `/console`.
  fastify.get('/console/', route, (_request, reply) => reply.redirect('../console', 308))
  fastify.get('/console/routes', { ...route, onRequest: noStore }, async () => ({
    routes: pageRoutes.filter((each) => {
      const [method = '', path] = each.split(' ')
      return fastify.hasRoute({ method, url: `${fastify.prefix}${path}` })
    }),
  }))
}

/**
 * Fastify plugin: `/console`, pages that show what a node does. They call routes of the same origin, and
 * nothing else; `/console/routes` says which of those that only some pages need are there.
 *
 * @throws (rejects) `ENOENT` if the package is not built
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(explorer, options)
 * await server.register(console)
 * ```
 */
export const console = fp(plugin, {
  name: pluginName,
  fastify: '5.x',
  encapsulate: true,
})

export default console
