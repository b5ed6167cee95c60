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

/**
 * A {@link Registry} over prom-client, with the metrics of Node.js beside the given ones.
 *
 * @example
 * const jobs = { name: 'jobs', help: 'Jobs', kind: 'gauge', read: () => [{ value: 3 }] }
 * const registry = prometheus({ metrics: [jobs] })
 * await server.register(metrics, { registry })
 */
export function prometheus({ metrics = [], readTimeoutMs = 2000 }: PrometheusOptions = {}): Registry {
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
  const readers = metrics.map((metric) => readerOf(metric, registry, readTimeoutMs, failures))
  const seen = new Set<string>()
  let reading: Promise<string> | undefined

  return {
    answered({ method, route, status, seconds }) {
      const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
      const key = `${method} ${route} ${labels.status}`
      if (!seen.has(key) && seen.size < maxRequestSeries) seen.add(key)
      requests.observe(seen.has(key) ? labels : { ...labels, method: 'any', route: 'other' }, seconds)
    },
    async read() {
      // Scrapes at the same time share one read.
      reading ??= Promise.all(readers.map((read) => read()))
        .then(() => registry.metrics())
        .finally(() => {
          reading = undefined
        })
      return { contentType: registry.contentType, text: await reading }
    },
  }
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
  return async (): Promise<void> => {
    try {
      show(await within(timeoutMs, metric.read()))
    } catch {
      failures.inc({ metric: name })
      show([])
    }
  }
}

async function within<T>(milliseconds: number, value: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), milliseconds)
  })
  return Promise.race([value, late]).finally(() => clearTimeout(timer))
}
