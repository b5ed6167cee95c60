import {
  type FaultKind,
  type FaultOperation,
  type FaultSource,
  type FaultTarget,
  type FieldRule,
  faultOfFields,
  oneOf,
  optional,
  wholeNumber,
} from '@ratatosk/chain-apis'
import { refuse } from './errors.js'

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

export const faultKinds = [
  'time-out',
  'refusal',
  'rate-limit',
  'failure',
  'garbage',
  'delay',
  'lost-answer',
] as const satisfies readonly FaultKind[]

export const faultTargets = [
  'blockfrost',
  'kupo',
  'ogmios',
  'client',
] as const satisfies readonly FaultTarget[]

export const faultOperations = [
  'utxos',
  'transaction',
  'submit',
  'evaluate',
  'parameters',
  'tip',
  'datum',
  'script',
  'other',
] as const satisfies readonly FaultOperation[]

/** The longest `delay`, in milliseconds. */
export const maxDelayMs = 600_000

const fields: Readonly<Record<keyof InjectedFault, FieldRule>> = {
  kind: oneOf(...faultKinds),
  target: optional(oneOf(...faultTargets)),
  operation: optional(oneOf(...faultOperations)),
  times: optional([
    (value) => value === Number.POSITIVE_INFINITY || wholeNumber(1)[0](value),
    'a whole number from 1, or Infinity',
  ]),
  delayMs: optional([
    (value) => typeof value === 'number' && value >= 0 && value <= maxDelayMs,
    `a number from 0 to ${maxDelayMs}`,
  ]),
  after: optional(wholeNumber(0)),
}

/** The reason why a value is no fault; undefined if it is one. */
export function faultReason(value: unknown): string | undefined {
  return faultOfFields('Invalid fault', 'field', fields, value)
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
   * @throws {DevnetError} `DEVNET_CONFIGURATION` for a field that is wrong or does not exist
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
      refuse(faultReason(fault))
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
