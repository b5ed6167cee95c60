import type { TestTransaction } from './transaction.js'
import type { World, WorldOptions } from './world.js'

/** A transaction that breaks exactly one rule: the script accepts it once it lacks that rule. */
export interface Breach {
  readonly rule: string
  /** The fault of the transaction: completes the name of a test. */
  readonly what: string
  readonly transaction: (world: World) => TestTransaction
  /** The world that it happens in, where that is not the usual one. */
  readonly options?: WorldOptions
}

export const breach = (
  rule: string,
  what: string,
  transaction: (world: World) => TestTransaction,
  options?: WorldOptions,
): Breach => ({ rule, what, transaction, ...(options && { options }) })
