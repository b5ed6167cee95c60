import {
  bearerToken,
  checkOptions,
  errorHandler,
  hasMethods,
  inTime,
  noStore,
  noteOperationIds,
  type OperatorAccess,
  oneOf,
  openScope,
  operatorAccessRules,
  operatorRoute,
  optionalTimer,
  portResult,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync, RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as PrometheusRegistry } from 'prom-client'

/** Options of {@link prometheus}. */
export interface PrometheusOptions {
  /** Read at every scrape, all at the same time. */
  readonly metrics?: readonly Metric[]
  /** How long a scrape waits for a metric, in milliseconds; then it is omitted. @defaultValue 2000 */
  readonly readTimeoutMs?: number
}

/** In seconds. Few, because each is a series for every route. */
const buckets = [0.005, 0.025, 0.1, 0.5, 2.5]
/** The most combinations of method, route and status; further requests count as route `other`. */
const maxRequestSeries = 150

const packageName = '@ratatosk/health/metrics'
const optionRules = {
  metrics: Type.Optional(Type.Array(Type.Unknown(), { expected: 'an array of metrics' })),
  readTimeoutMs: optionalTimer(1),
}
const metricRules = {
  name: Type.String({
    pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$',
    expected: 'letters, digits, _ and :, and begin with no digit',
  }),
  help: Type.String({ minLength: 1, expected: 'a text that is not empty' }),
  kind: oneOf('counter', 'gauge'),
  labels: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' }), {
      expected: 'an array of names of letters, digits and _ that begin with no digit',
    }),
  ),
  read: Type.Function([], Type.Unknown(), { expected: 'a function' }),
}

type OnOmitted = NonNullable<Parameters<Registry['read']>[0]>

/**
 * A {@link Registry} over prom-client, with the metrics of Node.js beside the given ones.
 *
 * @throws {TypeError} for an option or a metric that does not work
 * @example
 * const jobs: Metric = { name: 'jobs', help: 'Jobs', kind: 'gauge', read: () => [{ value: 3 }] }
 * const registry = prometheus({ metrics: [jobs] })
 * await server.register(metrics, { registry })
 */
export function prometheus(options: PrometheusOptions = {}): Registry {
  checkOptions(packageName, optionRules, options)
  const { metrics = [], readTimeoutMs = 2000 } = options
  const registry = new PrometheusRegistry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'ratatosk_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by route',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers,
  })
  const failures = new Counter({
    name: 'ratatosk_metrics_failures_total',
    help: 'Metrics that a scrape omitted because they could not be read',
    labelNames: ['metric'],
    registers,
  })
  const readers = metrics.map((metric, place) => {
    checkMetric(metric, `metrics[${place}]`, registry)
    return readerOf(metric, registry, readTimeoutMs, failures)
  })
  const seen = new Set<string>()
  let reading: Promise<string> | undefined

  return {
    answered({ method, route, status, seconds }) {
      const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
      const key = `${method} ${route} ${labels.status}`
      if (!seen.has(key) && seen.size < maxRequestSeries) seen.add(key)
      requests.observe(seen.has(key) ? labels : { ...labels, method: 'any', route: 'other' }, seconds)
    },
    async read(onOmitted = () => undefined) {
      // Scrapes at the same time share one read.
      reading ??= Promise.all(readers.map((read) => read(onOmitted)))
        .then(() => registry.metrics())
        .finally(() => {
          reading = undefined
        })
      return { contentType: registry.contentType, text: await reading }
    },
  }
}

/** @param place where the caller has it */
function checkMetric(metric: Metric, place: string, registry: PrometheusRegistry): void {
  // A metric may be an object of a class, with fields of its own.
  const { name: own, help, kind, labels, read }: Partial<Metric> = Object(metric)
  const which = typeof own === 'string' ? `${packageName}: ${place} (${own})` : `${packageName}: ${place}`
  checkOptions(which, metricRules, { name: own, help, kind, labels, read })
  if (registry.getSingleMetric(metric.name) !== undefined)
    throw new TypeError(`${which}: name must differ from those of other metrics`)
}

/** Registers a metric. @returns updates it; never rejects */
function readerOf(metric: Metric, registry: PrometheusRegistry, timeoutMs: number, failures: Counter) {
  const { name, help, kind, labels = [] } = metric
  const options = { name, help, labelNames: [...labels], registers: [registry] }
  const series = kind === 'counter' ? new Counter(options) : new Gauge(options)
  failures.inc({ metric: name }, 0)
  function show(samples: readonly Sample[]): void {
    // Outdated label values must not remain; a metric without samples is omitted.
    series.reset()
    if (samples.length === 0 && labels.length === 0) series.remove()
    for (const { labels: of = {}, value } of samples) series.inc(of, value)
  }
  let isOmitted = false
  return async (onOmitted: OnOmitted): Promise<void> => {
    try {
      const samples = await inTime('read', timeoutMs, metric.read())
      if (!Array.isArray(samples)) throw new TypeError('read must return an array of { value, labels }')
      show(samples)
      isOmitted = false
    } catch (error) {
      failures.inc({ metric: name })
      show([])
      if (!isOmitted) onOmitted(name, error)
      isOmitted = true
    }
  }
}

/** A value of a metric, and the labels that distinguish it from the others of its name. */
export interface Sample {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** A metric whose values are read when it is scraped. */
export interface Metric {
  /** Such as `ratatosk_queue_transactions`. */
  readonly name: string
  readonly help: string
  /** A counter only grows while the process runs. */
  readonly kind: 'counter' | 'gauge'
  /** Names of the labels of its samples. */
  readonly labels?: readonly string[]
  /** The current values. If it throws or rejects, a scrape omits the metric, and counts and reports it. */
  read(): readonly Sample[] | Promise<readonly Sample[]>
}

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string
  /** The pattern of the route, such as `/deadLetters/:id`. */
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/** Collects numbers and writes them. */
export interface Registry {
  answered(request: AnsweredRequest): void
  /**
   * All metrics in the text format of Prometheus.
   *
   * @param onOmitted called for a metric that could not be read, once until it can be read again
   */
  read(
    onOmitted?: (metric: string, cause: unknown) => void,
  ): Promise<{ readonly contentType: string; readonly text: string }>
}

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
