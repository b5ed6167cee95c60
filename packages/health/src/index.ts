import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { type Probe, readinessCheck, type Subsystem } from './readiness.js'
import { liveSchema, readySchema } from './schemas.js'

export { ProbeTimeoutError } from './errors.js'
export type { Probe, Subsystem } from './readiness.js'
export { Liveness, liveSchema, NotReady, Ready, readySchema } from './schemas.js'

export interface HealthOptions extends RegisterOptions {
  /** A probe for each subsystem that the server depends on; what has none is not asked about. */
  probes: Readonly<Partial<Record<Subsystem, Probe>>>
  /** How long a probe may take, in milliseconds. Default: 3000. */
  probeTimeoutMs?: number
}

const plugin: FastifyPluginAsyncTypebox<HealthOptions> = async (fastify, options) => {
  const { probes, probeTimeoutMs = 3000 } = options
  if (!probes) throw new TypeError('@ratatosk/health: probes are required')
  if (!(probeTimeoutMs > 0)) throw new TypeError('@ratatosk/health: probeTimeoutMs must be positive')

  const check = readinessCheck(probes, probeTimeoutMs, (subsystem, err) =>
    fastify.log.warn({ subsystem, err }, 'Subsystem unavailable'),
  )

  fastify.get('/health/live', { schema: liveSchema }, async () => ({ status: 'ok' as const }))

  fastify.get('/health/ready', { schema: readySchema }, async (_request, reply) => {
    const failing = await check()
    if (failing.length > 0) return reply.code(503).send({ status: 'not_ready', failing })
    return reply.send({ status: 'ready' })
  })
}

/**
 * Fastify plugin: `GET /health/live` and `GET /health/ready`.
 *
 * It is encapsulated, so several instances fit into one server, each under its `prefix`.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(health, {
 *   probes: { database: async (signal) => database.ping({ signal }) },
 * })
 * ```
 */
export const health = fp(plugin, { name: '@ratatosk/health', fastify: '5.x', encapsulate: true })

export default health
