import type { FaultKind, FaultOperation, FaultSource, FaultTarget } from '@ratatosk/chain-apis'
import { unknownOf, wrong } from './options.js'

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

/** Whether a value is right, and what is. */
type Rule = readonly [isRight: (value: unknown) => boolean, expected: string]

const oneOf = (texts: readonly string[]): Rule => [
  (value) => texts.some((text) => text === value),
  `one of ${texts.join(', ')}`,
]
const isWhole = (value: unknown, least: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= least

const fields: Readonly<Record<keyof InjectedFault, Rule>> = {
  kind: oneOf(faultKinds),
  target: oneOf(faultTargets),
  operation: oneOf(faultOperations),
  times: [
    (value) => value === Number.POSITIVE_INFINITY || isWhole(value, 1),
    'a whole number from 1, or Infinity',
  ],
  delayMs: [
    (value) => typeof value === 'number' && value >= 0 && value <= maxDelayMs,
    `a number from 0 to ${maxDelayMs}`,
  ],
  after: [(value) => isWhole(value, 0), 'a whole number from 0'],
}

/** The reason why a value is no fault; undefined if it is one. */
export function faultReason(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it must be an object with a kind'
  const names = Object.keys(fields)
  const unknown = unknownOf(value, names)
  if (unknown !== undefined) return `there is no field ${unknown}; its fields are ${names.join(', ')}`
  const fault = value as Readonly<Record<string, unknown>>
  for (const [name, [isRight, expected]] of Object.entries(fields)) {
    const field = fault[name]
    const isAbsent = field === undefined && name !== 'kind'
    if (!isAbsent && !isRight(field)) return `${name} must be ${expected}, not ${String(field)}`
  }
  return undefined
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
      const reason = faultReason(fault)
      if (reason !== undefined) throw wrong(`Invalid fault: ${reason}`)
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
