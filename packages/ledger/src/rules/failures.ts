import type { Predicate } from './predicates.js'

/** A JSON value. Amounts are decimal strings, hashes hex. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * A rule that a transaction breaks. `predicate` is the name of the constructor in the Haskell ledger
 * (`FeeTooSmallUTxO`) or a name of the layer-2 profile. `details` has what a client needs to correct the
 * transaction.
 */
export interface PredicateFailure {
  readonly predicate: string
  readonly message: string
  readonly details: { readonly [key: string]: Json }
}

/** Every rule that a transaction breaks; empty if it breaks none. */
export type Failures = readonly PredicateFailure[]

export class Findings {
  readonly failures: PredicateFailure[] = []

  add(predicate: Predicate, message: string, details: { readonly [key: string]: Json } = {}): void {
    this.failures.push({ predicate, message, details })
  }
}
