import {
  bearerToken,
  checkOptions,
  errorHandler,
  hasMethods,
  noStore,
  noteOperationIds,
  type OperatorAccess,
  openScope,
  operatorAccessRules,
  operatorRoute,
  portResult,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync, RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import type { Registry } from './ports.js'

export type { AnsweredRequest, Metric, Registry, Sample } from './ports.js'
export { type PrometheusOptions, prometheus } from './prometheus.js'

/** Options of {@link metrics}: its port, and who may read. */
export interface MetricsOptions extends RegisterOptions, OperatorAccess {
  registry: Registry
}

const name = '@ratatosk/health/metrics'
/** Not in the OpenAPI document, because only Prometheus reads it. */
const schema = {
  summary: 'Metrics for Prometheus',
  hide: true,
  response: { 200: { description: "Prometheus's text format", type: 'string' } },
}
const Scraped = Type.Object(
  { contentType: Type.String(), text: Type.String() },
  { title: '{ contentType, text }' },
)
const rules = { registry: hasMethods('answered', 'read'), ...operatorAccessRules }

/** The requests that a registry has counted, which may be of nested scopes that both have the plugin. */
const counted = new WeakMap<Registry, WeakSet<object>>()

const plugin: FastifyPluginAsync<MetricsOptions> = async (fastify, options) => {
  checkOptions(name, rules, options)
  const { registry } = options
  const answered = counted.get(registry) ?? new WeakSet()
  counted.set(registry, answered)
  noteOperationIds(fastify)
  fastify.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request
    if (answered.has(request.raw)) {
      done()
      return
    }
    answered.add(request.raw)
    const route = patternOf(routeOptions.url)
    // Only methods of a route: a client can make up others.
    registry.answered({
      method: route === 'none' ? 'any' : method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    })
    done()
  })
  await fastify.register(scope, options)
}

/** The route has a scope of its own, for its error handler. */
const scope = fp<MetricsOptions>(
  async (fastify, options) => {
    openScope(fastify, name, rules, options)
    const { onRequest, config } = operatorRoute(options)
    const { registry, operatorToken: token } = options
    // Prometheus addresses each process by its IP address. A page of another host does not know the token.
    const guards = token === undefined ? onRequest : [noStore, bearerToken(token)]
    fastify.setErrorHandler(errorHandler)
    const route = { onRequest: guards, config, schema, exposeHeadRoute: false }
    fastify.get('/metrics', route, async (_request, reply) => {
      const scraped = await registry.read((metric, err) =>
        fastify.log.warn({ metric, err }, 'The metric cannot be read: scrapes omit it'),
      )
      const { contentType, text } = portResult('registry.read', Scraped, scraped)
      return reply.type(contentType).send(text)
    })
  },
  { name, fastify: '5.x', encapsulate: true },
)

/** The many routes under `/l2` count by their API. `none`: no route. */
function patternOf(url: string | undefined): string {
  if (url === undefined) return 'none'
  return /^\/l2\/(?:committed\/|merged\/)?\w+/.exec(url)?.[0] ?? url
}

/**
 * Fastify plugin: `GET /metrics` in the text format of Prometheus, and the time of every request to a route
 * that is registered later.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(metrics, { registry: prometheus() })
 * ```
 */
export const metrics = fp(plugin, { name, fastify: '5.x' })

export default metrics
