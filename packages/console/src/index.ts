import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { errorHandler, sameOriginOnly } from '@ratatosk/http'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'

/** What the bundle has: the path behind `/console`, the file, and its type. */
const served = [
  ['', 'index.html', 'text/html; charset=utf-8'],
  ['/console.js', 'console.js', 'text/javascript; charset=utf-8'],
  ['/console.css', 'console.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const

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
  readonly gzipped: Buffer
  readonly tag: string
  readonly type: string
}

/** Reads a file of the bundle, which a build makes after compilation. */
async function load(name: string, type: string): Promise<File> {
  const text = await readFile(new URL(`../bundle/${name}`, import.meta.url))
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  return { text, gzipped: await promisify(gzip)(text, { level: 9 }), tag, type }
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, gzipped, tag, type }: File,
): FastifyReply {
  reply.headers({
    etag: tag,
    'cache-control': 'no-cache',
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'accept-encoding',
  })
  if (request.headers['if-none-match'] === tag) return reply.code(304).send()
  reply.type(type)
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(gzipped)
}

const plugin: FastifyPluginAsync = async (fastify) => {
  fastify.setErrorHandler(errorHandler)
  for (const [path, name, type] of served) {
    const file = await load(name, type)
    fastify.get(`/console${path}`, { exposeHeadRoute: false, config: sameOriginOnly }, (request, reply) =>
      send(request, reply, file),
    )
  }
}

/**
 * Fastify plugin: `/console`, pages that show what a node does. They read `/explorer/…`, `/events` and
 * `/tx/status` of the same origin, and nothing else.
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
export const console = fp(plugin, { name: '@ratatosk/console', fastify: '5.x', encapsulate: true })

export default console
