import type { Roots } from '@ratatosk/sequencer/roots'

/** Calls of roots of one kind, since the start. */
export interface RootsCalls {
  readonly method: string
  readonly count: number
  /** All together, waiting for the call before included. */
  readonly milliseconds: number
}

const methods = ['apply', 'applyWithin', 'prepare', 'free', 'revert', 'rebuild', 'prove', 'answer'] as const

/** The same roots, with the number of their calls and the time that these took. */
export function timeRoots(roots: Roots): { roots: Roots; calls: () => readonly RootsCalls[] } {
  const counts = new Map(methods.map((method) => [method, { method, count: 0, milliseconds: 0 }]))
  const timed = [...counts].map(([method, times]) => {
    const call = roots[method].bind(roots) as (...given: unknown[]) => Promise<unknown>
    const timing = async (...given: unknown[]) => {
      const began = performance.now()
      try {
        return await call(...given)
      } finally {
        times.count++
        times.milliseconds += performance.now() - began
      }
    }
    return [method, timing]
  })
  return {
    roots: { ...roots, ...Object.fromEntries(timed) },
    calls: () => [...counts.values()].map((times) => ({ ...times })),
  }
}
