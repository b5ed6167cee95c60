import type { FaultKind, FaultOperation, FaultSource, FaultTarget } from '@ratatosk/chain-apis'

export type { FaultKind, FaultOperation, FaultTarget } from '@ratatosk/chain-apis'

/** A fault to inject. */
export interface InjectedFault {
  readonly kind: FaultKind
  /** Default: every target. */
  readonly target?: FaultTarget
  /** Default: every operation. */
  readonly operation?: FaultOperation
  /** How many requests fail; `Infinity` until the fault is removed. Default 1. */
  readonly times?: number
  /** Length of a `delay`, in milliseconds. Default 1000. */
  readonly delayMs?: number
  /** How many matching requests succeed first. Default 0. */
  readonly after?: number
}

/**
 * Faults on demand, for tests of clients of the devnet.
 *
 * @example
 * ```ts
 * const remove = devnet.faults.inject({ kind: 'rate-limit', target: 'blockfrost', times: 3 })
 * remove()
 * ```
 */
export interface Faults extends FaultSource {
  /**
   * Adds a fault. If several faults match a request, the one injected first applies.
   *
   * @returns a function that removes the fault
   */
  inject(fault: InjectedFault): () => void
  /** Removes all faults. */
  clear(): void
  /** The fault that applies to a request, if any. Counts the request. */
  take(target: FaultTarget, operation: FaultOperation): InjectedFault | undefined
}

export function createFaults(): Faults {
  let active: { readonly fault: InjectedFault; skip: number; remaining: number }[] = []

  return {
    inject(fault) {
      const entry = { fault, skip: fault.after ?? 0, remaining: fault.times ?? 1 }
      active.push(entry)
      return () => {
        active = active.filter((other) => other !== entry)
      }
    },
    clear() {
      active = []
    },
    take(target, operation) {
      for (const entry of active) {
        const { fault } = entry
        if (fault.target !== undefined && fault.target !== target) continue
        if (fault.operation !== undefined && fault.operation !== operation) continue
        if (entry.skip > 0) {
          entry.skip--
          continue
        }
        entry.remaining--
        if (entry.remaining <= 0) active = active.filter((other) => other !== entry)
        return fault
      }
      return undefined
    },
  }
}
