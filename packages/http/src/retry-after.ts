/**
 * The seconds of `Retry-After` that an error of a port asks for: its `retryAfterMs`, rounded up. Undefined if that is not a positive
 * number.
 */
export function retryAfterSeconds(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? Math.ceil(retryAfterMs / 1000) : undefined
}
