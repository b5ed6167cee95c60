/**
 * A probe exceeded its time limit. It is logged and is the reason of the probe's signal; clients never see
 * it.
 */
export class ProbeTimeoutError extends Error {
  override readonly name = 'ProbeTimeoutError'
  readonly code = 'HEALTH_PROBE_TIMEOUT'

  /** @param timeoutMs the limit, in milliseconds */
  constructor(timeoutMs: number) {
    super(`No answer within ${timeoutMs} ms`)
  }
}

/** Whether a caught value is a {@link ProbeTimeoutError}; works across copies of this package. */
export function isProbeTimeoutError(value: unknown): value is ProbeTimeoutError {
  return value instanceof Error && value.name === 'ProbeTimeoutError'
}
