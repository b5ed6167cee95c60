import type { Metric, Sample } from '@ratatosk/health/metrics'
import { shareAnswers } from '@ratatosk/http'

export function gauge(name: string, help: string, read: () => number | Promise<number>): Metric {
  return { name, help, kind: 'gauge', read: async () => [{ value: await read() }] }
}

export function gauges(name: string, help: string, labels: readonly string[], read: Metric['read']): Metric {
  return { name, help, kind: 'gauge', labels, read }
}

export function counter(
  name: string,
  help: string,
  labels: readonly string[],
  read: () => readonly Sample[],
): Metric {
  return { name, help, kind: 'counter', labels, read }
}

/** Milliseconds between two reads of the queue for scrapes and probes. */
export const queueEveryMs = 5_000

/** Calls at the same time, and for `freshMs` afterwards, share one answer. */
export function shared<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  const share = shareAnswers<T>(freshMs)
  return () => share('', read)
}
