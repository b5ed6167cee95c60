import { checkOptions, oneOf, optionalTimer } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as PrometheusRegistry } from 'prom-client'
import type { Metric, Registry, Sample } from './ports.js'

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
const rules = {
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
 * const jobs = { name: 'jobs', help: 'Jobs', kind: 'gauge', read: () => [{ value: 3 }] }
 * const registry = prometheus({ metrics: [jobs] })
 * await server.register(metrics, { registry })
 */
export function prometheus(options: PrometheusOptions = {}): Registry {
  checkOptions(packageName, rules, options)
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
      const samples = await within(timeoutMs, metric.read())
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

async function within<T>(milliseconds: number, value: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${milliseconds} ms`)), milliseconds)
  })
  return Promise.race([value, late]).finally(() => clearTimeout(timer))
}
