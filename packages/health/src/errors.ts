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

/**
 * Why a subsystem is not ready, in words that clients may see: `GET /health/ready` shows the message. Of any
 * other failure of a probe, they see only the name of its subsystem.
 */
export class ReadinessError extends Error {
  override readonly name = 'ReadinessError'
  readonly code = 'HEALTH_NOT_READY'
}

/** Whether a caught value is a {@link ReadinessError}; works across copies of this package. */
export function isReadinessError(value: unknown): value is ReadinessError {
  return value instanceof Error && value.name === 'ReadinessError'
}
