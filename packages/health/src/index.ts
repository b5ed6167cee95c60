import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  arrivalResponses,
  connectionResponses,
  errorHandler,
  functionsByName,
  openScope,
  optionalTimer,
  orBusy,
  servedUnderLoad,
} from '@ratatosk/http'
import { type Static, type TInteger, type TOptional, type TString, Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { isReadinessError, type Probe, readinessCheck } from './readiness.js'

/** Body of `GET /health/live`. */
export const Liveness = Type.Object(
  { status: Type.Literal('ok') },
  { title: 'Liveness', description: 'The process is up' },
)
export type Liveness = Static<typeof Liveness>

const readyNotes = { title: 'Ready', description: 'Every subsystem responds' }

/** Body of a 200 of `GET /health/ready`, next to the counters that are not 0. */
export const Ready = Type.Object({ status: Type.Literal('ready') }, readyNotes)
export type Ready = Static<typeof Ready>

/**
 * Body of a 503 of `GET /health/ready`: the names of the failing subsystems, in the order of the probes, next
 * to the counters that are not 0.
 */
export interface NotReady<Name extends string = string> {
  status: 'not_ready'
  failing: Name[]
  /** Why, for those of which clients may know it. */
  reasons?: Partial<Record<Name, string>>
}

/** Schemas of the counters, which are present in a body unless they are 0. */
function counts(counters: readonly string[]): Record<never, TOptional<TInteger>> {
  const count = Type.Optional(Type.Integer({ minimum: 1, description: 'Absent if 0' }))
  return Object.fromEntries(counters.map((name) => [name, count]))
}

function reasonsOf(subsystems: readonly string[]): Record<never, TOptional<TString>> {
  return Object.fromEntries(subsystems.map((name) => [name, Type.Optional(Type.String())]))
}

/**
 * Schema of a {@link NotReady}.
 *
 * @param subsystems the names that `failing` may contain
 * @param counters the names of the counters
 */
export function notReady<Name extends string>(subsystems: readonly Name[], counters: readonly string[] = []) {
  // JSON Schema does not allow an empty enum.
  const names = subsystems.length > 0 ? { enum: [...subsystems] } : {}
  return Type.Object(
    {
      status: Type.Literal('not_ready'),
      failing: Type.Array(Type.Unsafe<Name>(Type.String(names)), {
        description: 'Subsystems that are not ready, in the order of the enum',
      }),
      reasons: Type.Optional(Type.Object(reasonsOf(subsystems), { description: 'Why, if it is known' })),
      ...counts(counters),
    },
    { title: 'NotReady', description: 'One or more subsystems are not ready' },
  )
}

/** Route schema of `GET /health/live`, for OpenAPI documents. */
export const liveSchema = {
  operationId: 'getLiveness',
  summary: 'Liveness',
  description: 'Always 200 while the process is up.',
  tags: ['health'],
  response: { 200: Liveness, ...arrivalResponses() },
}

/** Route schema of `GET /health/ready`, for OpenAPI documents. */
export const readySchema = <Name extends string>(
  subsystems: readonly Name[],
  counters: readonly string[] = [],
) => ({
  operationId: 'getReadiness',
  summary: 'Readiness of the subsystems that the server depends on',
  description: 'Asks the subsystems concurrently, each with a time limit.',
  tags: ['health'],
  response: {
    ...connectionResponses(),
    200: Type.Object({ ...Ready.properties, ...counts(counters) }, readyNotes),
    503: orBusy(notReady(subsystems, counters)),
  },
})

export type { Probe } from './readiness.js'
export { isProbeTimeoutError, isReadinessError, ProbeTimeoutError, ReadinessError } from './readiness.js'

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
