import pTimeout from 'p-timeout'
import { isReadinessError, ProbeTimeoutError } from './errors.js'

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
