import pTimeout from 'p-timeout'

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

/**
 * Returns or resolves when its subsystem responds; throws or rejects when it does not, or returns false. The
 * signal aborts when the time limit is exceeded; the probe then has to release what it holds.
 */
export type Probe = (signal: AbortSignal) => void | Promise<void>

interface Failure<Name extends string> {
  readonly name: Name
  /** For clients. */
  readonly reason?: string
}

/**
 * Runs all probes concurrently, each within `timeoutMs`; calls during a run share its result. Resolves to the
 * failing subsystems in order and never rejects. `onFailure` is called once per failure and run.
 */
export function readinessCheck<Name extends string>(
  probes: Readonly<Record<Name, Probe>>,
  timeoutMs: number,
  onFailure: (subsystem: Name, cause: unknown) => void,
): () => Promise<Failure<Name>[]> {
  const subsystems = Object.keys(probes) as Name[]
  let current: Promise<Failure<Name>[]> | undefined

  async function failureOf(name: Name): Promise<Failure<Name>[]> {
    try {
      await withinLimit(probes[name], timeoutMs)
      return []
    } catch (cause) {
      onFailure(name, cause)
      return [isReadinessError(cause) ? { name, reason: cause.message } : { name }]
    }
  }

  async function run(): Promise<Failure<Name>[]> {
    return (await Promise.all(subsystems.map(failureOf))).flat()
  }

  return () => {
    current ??= run().finally(() => {
      current = undefined
    })
    return current
  }
}

async function withinLimit(probe: Probe, timeoutMs: number): Promise<void> {
  const deadline = new AbortController()
  try {
    const run = async (): Promise<unknown> => probe(deadline.signal)
    const result = await pTimeout(run(), {
      milliseconds: timeoutMs,
      message: new ProbeTimeoutError(timeoutMs),
    })
    // Of a probe in JavaScript.
    if (result === false) throw new TypeError('The probe returned false: let it throw the reason')
  } catch (error) {
    deadline.abort(error)
    throw error
  }
}
