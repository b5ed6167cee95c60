import { ProbeTimeoutError } from './errors.js'

/** Subsystems whose loss makes a node unready, in the order in which they are named. */
export const subsystems = ['database', 'queue', 'layer1'] as const

export type Subsystem = (typeof subsystems)[number]

/**
 * Resolves when the subsystem answers, rejects when it does not. It has to give up what it holds when the signal
 * aborts, which it does when the time for probes is over.
 */
export type Probe = (signal: AbortSignal) => Promise<void>

/**
 * Makes a check that runs all probes side by side, each bounded in time.
 *
 * Whoever asks while a run is under way shares its result: a burst of requests is one run.
 *
 * @param probes a probe for each subsystem that the server depends on
 * @param timeoutMs how long a probe may take, in milliseconds
 * @param onFailure is told of each failure of a run, once
 * @returns a function that resolves to the failing subsystems, in the order of {@link subsystems}; it never rejects
 */
export function readinessCheck(
  probes: Readonly<Partial<Record<Subsystem, Probe>>>,
  timeoutMs: number,
  onFailure: (subsystem: Subsystem, cause: unknown) => void,
): () => Promise<Subsystem[]> {
  let underway: Promise<Subsystem[]> | undefined

  async function answers(subsystem: Subsystem): Promise<boolean> {
    const probe = probes[subsystem]
    if (!probe) return true
    try {
      await bounded(probe, timeoutMs)
      return true
    } catch (cause) {
      onFailure(subsystem, cause)
      return false
    }
  }

  async function run(): Promise<Subsystem[]> {
    const answered = await Promise.all(subsystems.map(answers))
    return subsystems.filter((_subsystem, index) => !answered[index])
  }

  return () => {
    underway ??= run().finally(() => {
      underway = undefined
    })
    return underway
  }
}

/** Runs a probe to its end or to the end of its time, whichever comes first. */
async function bounded(probe: Probe, timeoutMs: number): Promise<void> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new ProbeTimeoutError(timeoutMs)), timeoutMs)
  const timeout = new Promise<never>((_resolve, reject) => {
    deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason), { once: true })
  })
  try {
    await Promise.race([probe(deadline.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}
