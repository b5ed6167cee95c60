/** What JSON can hold; amounts are decimal strings, hashes are hex. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * One rule that a transaction breaks. `predicate` is the Haskell ledger's constructor name where it has one
 * (`FeeTooSmallUTxO`), otherwise a name of the layer-2 profile; `details` has what a client needs to mend it.
 */
export interface PredicateFailure {
  readonly predicate: string
  readonly message: string
  readonly details: { readonly [key: string]: Json }
}

/** Every predicate that could be judged by itself and failed; empty: the transaction keeps all rules. */
export type Verdict = readonly PredicateFailure[]

/** Where a rule puts what it found broken. */
export class Findings {
  readonly failures: PredicateFailure[] = []

  add(predicate: string, message: string, details: { readonly [key: string]: Json } = {}): void {
    this.failures.push({ predicate, message, details })
  }
}
