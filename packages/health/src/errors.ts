/** A probe took longer than it may. It is logged, and the reason of the probe's signal; no client sees it. */
export class ProbeTimeoutError extends Error {
  readonly code = 'HEALTH_PROBE_TIMEOUT'

  constructor(timeoutMs: number) {
    super(`No answer within ${timeoutMs} ms`)
    this.name = 'ProbeTimeoutError'
  }
}
