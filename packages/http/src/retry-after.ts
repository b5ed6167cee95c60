/**
 * The milliseconds after which an error of a port says to try again: its `retryAfterMs`. Undefined if that is
 * not a positive number.
 */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : undefined
}

/** {@link retryAfterMsOf} in seconds, rounded up, as in the header `Retry-After`. */
export function retryAfterSeconds(error: unknown): number | undefined {
  const milliseconds = retryAfterMsOf(error)
  return milliseconds === undefined ? undefined : Math.ceil(milliseconds / 1000)
}
