import type { ExecutionUnits } from '../../rules/script-evaluator.js'
import { BudgetSpent } from './failures.js'

/** Counters are saturating signed 64-bit integers. */
const maxUnits = 2n ** 63n - 1n
/** The amount that is taken from the reserve at once. Its sum with any exact cost is exact. */
const portion = 2n ** 51n
/** Costs up to this are exact in floating point. */
export const maxExact = 2 ** 52

/** Counts the units that a script uses, and stops it when it exceeds its budget. */
export class Meter {
  /** The units at hand. The machine subtracts from them and calls `refill` when they fall below zero. */
  steps = 0
  memory = 0
  readonly #limit: ExecutionUnits
  #stepsReserve: bigint
  #memoryReserve: bigint

  constructor(limit: ExecutionUnits) {
    // A budget of the maximum of a counter is unlimited.
    this.#limit = {
      steps: limit.steps >= maxUnits ? maxUnits * maxUnits : limit.steps,
      memory: limit.memory >= maxUnits ? maxUnits * maxUnits : limit.memory,
    }
    this.#stepsReserve = this.#limit.steps
    this.#memoryReserve = this.#limit.memory
    this.refill()
  }

  /** Charges a builtin. Neither cost may exceed `maxExact`. */
  spend(steps: number, memory: number): void {
    this.steps -= steps
    this.memory -= memory
    if (this.steps < 0 || this.memory < 0) this.refill()
  }

  spendLarge(steps: bigint, memory: bigint): void {
    this.#stepsReserve -= steps > maxUnits ? maxUnits : steps
    this.#memoryReserve -= memory > maxUnits ? maxUnits : memory
    this.refill()
  }

  /** Refills the units at hand from the reserves. */
  refill(): void {
    if (this.steps < 0 || this.#stepsReserve < 0n || this.steps === 0) {
      const whole = this.#stepsReserve + BigInt(this.steps)
      if (whole < 0n) throw spent('steps')
      const taken = whole < portion ? whole : portion
      this.steps = Number(taken)
      this.#stepsReserve = whole - taken
    }
    if (this.memory < 0 || this.#memoryReserve < 0n || this.memory === 0) {
      const whole = this.#memoryReserve + BigInt(this.memory)
      if (whole < 0n) throw spent('memory')
      const taken = whole < portion ? whole : portion
      this.memory = Number(taken)
      this.#memoryReserve = whole - taken
    }
  }

  used(): ExecutionUnits {
    const steps = this.#limit.steps - this.#stepsReserve - BigInt(this.steps)
    const memory = this.#limit.memory - this.#memoryReserve - BigInt(this.memory)
    return { memory: memory > maxUnits ? maxUnits : memory, steps: steps > maxUnits ? maxUnits : steps }
  }

  /** The remaining steps, rounded to floating point. */
  stepsLeft(): number {
    return this.steps + Number(this.#stepsReserve)
  }
}

function spent(what: string): BudgetSpent {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return new BudgetSpent(`The script needs more ${what} than its redeemer declares`)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
