import { about, type ForeignTime, type NodeFinding } from './finding.js'

/** Headers have whole seconds, and blocks have slots of a second. */
const toleranceMs = 5000

export function clockFinding(times: readonly ForeignTime[]): NodeFinding {
  const { ok, failed } = about('clock')
  const wrong = times.filter(({ aheadMs }) => Math.abs(aheadMs) > toleranceMs)
  if (wrong.length > 0) {
    const facts = wrong.map(
      ({ source, aheadMs }) =>
        `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${source}`,
    )
    return failed(
      `The clock of this machine is ${facts.join(' and ')}: validity intervals and blocks would be wrong. ` +
        'Synchronise it by NTP, such as `timedatectl set-ntp true`.',
    )
  }
  if (times.length === 0) return ok('no other machine to compare it with')
  return ok(`agrees with ${times.map(({ source }) => source).join(' and ')}`)
}

/** Compares a clock with an HTTP server's by its Date header; undefined without one. */
export async function timeOf(
  url: string,
  source: string,
  { clock, timeoutMs }: { readonly clock: () => number; readonly timeoutMs: number },
): Promise<ForeignTime | undefined> {
  try {
    const before = clock()
    const { headers, body } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      // A copy from a cache would have an old date.
      headers: { 'cache-control': 'no-cache' },
    })
    const after = clock()
    await body?.cancel()
    // The header is cut to a second: its mean is half a second later.
    const theirs = Date.parse(headers.get('date') ?? '') + 500
    return Number.isNaN(theirs) ? undefined : { source, aheadMs: (before + after) / 2 - theirs }
  } catch {
    return undefined
  }
}
