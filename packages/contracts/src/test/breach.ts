import type { TestTransaction } from './transaction.js'
import type { World } from './world.js'

/** A transaction that breaks one rule and keeps all others: with that rule left out of the script, it passes. */
export interface Breach {
  readonly rule: string
  readonly what: string
  readonly transaction: (world: World) => TestTransaction
}

export const breach = (
  rule: string,
  what: string,
  transaction: (world: World) => TestTransaction,
): Breach => ({ rule, what, transaction })
