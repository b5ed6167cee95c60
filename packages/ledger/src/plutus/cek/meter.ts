import type { ExecutionUnits } from '../types.js'
import { BudgetSpent } from './failures.js'

/** Counters are signed integers of 64 bits that stay at their end. */
const mostUnits = 2n ** 63n - 1n
/** So much is taken from the reserve at once: sums of it and any exact cost are still exact. */
const portion = 2n ** 51n
/** Under which a cost is counted exactly in floating point. */
export const mostExact = 2 ** 52

/** Counts what a script uses, and stops it where it has used up what it may. */
export class Meter {
  /** What is left at hand; the machine takes from it itself and calls `refill` where it falls below zero. */
  steps = 0
  memory = 0
  readonly #limit: ExecutionUnits
  #stepsReserve: bigint
  #memoryReserve: bigint

  constructor(limit: ExecutionUnits) {
    // What may use as much as a counter can count may use anything.
    this.#limit = {
      steps: limit.steps >= mostUnits ? mostUnits * mostUnits : limit.steps,
      memory: limit.memory >= mostUnits ? mostUnits * mostUnits : limit.memory,
    }
    this.#stepsReserve = this.#limit.steps
    this.#memoryReserve = this.#limit.memory
    this.refill()
  }

  /** Takes what a builtin costs, each no more than `mostExact`. */
  spend(steps: number, memory: number): void {
    this.steps -= steps
    this.memory -= memory
    if (this.steps < 0 || this.memory < 0) this.refill()
  }

  spendLarge(steps: bigint, memory: bigint): void {
    this.#stepsReserve -= steps > mostUnits ? mostUnits : steps
    this.#memoryReserve -= memory > mostUnits ? mostUnits : memory
    this.refill()
  }

  /** Takes from the reserves what is missing. */
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
    return { memory: memory > mostUnits ? mostUnits : memory, steps: steps > mostUnits ? mostUnits : steps }
  }

  /** How many steps are left, as far as floating point tells. */
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
