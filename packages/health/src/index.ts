import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { errorHandler, functionsByName, openScope, optionalTimer, servedUnderLoad } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { isReadinessError } from './errors.js'
import { type Probe, readinessCheck } from './readiness.js'
import { liveSchema, readySchema } from './schemas.js'

export { isProbeTimeoutError, isReadinessError, ProbeTimeoutError, ReadinessError } from './errors.js'
export type { Probe } from './readiness.js'
export { Liveness, liveSchema, type NotReady, notReady, Ready, readySchema } from './schemas.js'

/** Options of {@link health}. */
export interface HealthOptions<Name extends string = string> extends RegisterOptions {
  /**
   * A probe for each subsystem that the server depends on, by its name. Failing ones are reported in this
   * order.
   */
  probes: Readonly<Record<Name, Probe>>
  /** Time limit of a probe, in milliseconds. Default: 3000. */
  probeTimeoutMs?: number
  /**
   * Counts of what should not happen, by name. `GET /health/ready` shows those that are not 0, and omits and
   * logs those that throw.
   */
  counters?: Readonly<Record<string, () => number>>
}

const name = '@ratatosk/health'
const rules = {
  probes: functionsByName(),
  counters: Type.Optional(functionsByName('status', 'failing', 'reasons')),
  probeTimeoutMs: optionalTimer(1),
}

const plugin: FastifyPluginAsyncTypebox<HealthOptions> = async (fastify, options) => {
  openScope(fastify, name, rules, options)
  const { probes, probeTimeoutMs = 3000, counters = {} } = options
  fastify.setErrorHandler(errorHandler)

  const check = readinessCheck(probes, probeTimeoutMs, (subsystem, err) => {
    if (isReadinessError(err)) fastify.log.warn({ subsystem }, `Not ready: ${err.message}`)
    else fastify.log.warn({ subsystem, err }, 'Subsystem unavailable')
  })

  // Readiness does not depend on them.
  const readCounts = countsOf(counters, (counter, err) =>
    fastify.log.warn({ counter, err }, 'The counter cannot be read: answers omit it'),
  )

  // For `@fastify/rate-limit`: probes are frequent.
  const config = { ...servedUnderLoad, rateLimit: false as const }
  fastify.get('/health/live', { schema: liveSchema, config }, async () => ({ status: 'ok' as const }))

  const schema = readySchema(Object.keys(probes), Object.keys(counters))
  fastify.get('/health/ready', { schema, config }, async (_request, reply) => {
    const failures = await check()
    const shown = readCounts()
    if (failures.length === 0) return reply.send({ ...shown, status: 'ready' })
    const failing = failures.map((failure) => failure.name)
    const explained = failures.flatMap(({ name, reason }) => (reason === undefined ? [] : [[name, reason]]))
    const reasons = explained.length > 0 && { reasons: Object.fromEntries(explained) }
    return reply.code(503).send({ ...shown, status: 'not_ready', failing, ...reasons })
  })
}

/**
 * Reads the counters that are not 0.
 *
 * @param onOmitted called for a counter that throws, once until it can be read again
 */
function countsOf(
  counters: NonNullable<HealthOptions['counters']>,
  onOmitted: (counter: string, cause: unknown) => void,
): () => Record<string, number> {
  const omitted = new Set<string>()
  const read = ([name, count]: [string, () => number]): [string, number][] => {
    try {
      const value: unknown = count()
      if (typeof value !== 'number') throw new TypeError(`counters.${name} must return a number`)
      omitted.delete(name)
      return value > 0 ? [[name, value]] : []
    } catch (error) {
      if (!omitted.has(name)) onOmitted(name, error)
      omitted.add(name)
      return []
    }
  }
  return () => Object.fromEntries(Object.entries(counters).flatMap(read))
}

/**
 * Fastify plugin: `GET /health/live` and `GET /health/ready`.
 *
 * Encapsulated: one server can hold several instances, each under its `prefix`. Throws a `TypeError` at
 * startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(health, {
 *   probes: { database: async (signal) => database.ping({ signal }) },
 * })
 * ```
 */
export const health = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default health
