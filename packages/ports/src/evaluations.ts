/** Memory units and CPU steps of a script. */
export interface Units {
  readonly memory: bigint
  readonly steps: bigint
}

/** The report on the script of one redeemer. */
export interface RedeemerReport {
  readonly purpose: string
  readonly index: number
  /** The budget that the transaction declares. */
  readonly declared: Units
  readonly outcome: {
    /** `Succeeded`, `NotReached`, or the name of a failure. */
    readonly kind: string
    readonly used?: Units
    readonly message?: string
    readonly logs?: readonly string[]
  }
}

/** The decision that validation would make about a transaction now. */
export interface Evaluation {
  /**
   * | verdict | what submission does |
   * | --- | --- |
   * | `valid` | accepts it |
   * | `known` | acknowledges it without a second effect: it is in the mempool or in a block |
   * | `retriable` | tries again: an input or the validity interval may come; finally a dead letter |
   * | `invalid` | makes it a dead letter at once |
   */
  readonly verdict: 'valid' | 'known' | 'retriable' | 'invalid'
  /** 32 bytes; undefined if the bytes are not a transaction. */
  readonly transactionId: Uint8Array | undefined
  /**
   * Every failed predicate, as in the dead letter of a submission. Scripts, and more than three signatures,
   * are validated only if nothing else fails.
   */
  readonly failures: readonly {
    /** Predicate of the Haskell ledger, or of the layer-2 profile. */
    readonly predicate: string
    readonly message: string
    readonly details: object
  }[]
  /** In the order of the transaction's redeemers. Without used units where scripts did not run. */
  readonly redeemers: readonly RedeemerReport[]
  /** The slot at which it was validated. */
  readonly slot: bigint
}

/**
 * Shares one thread among those whose transactions are evaluated. `openTurns` of `@ratatosk/workers`
 * implements it.
 */
export interface Turns {
  /**
   * Does work when it is its turn: the cheapest of those that wait first.
   *
   * @param cost in steps
   * @param signal ends the wait; work that has begun is finished
   * @throws (rejects) an error with the code `WORKERS_EVALUATIONS_BUSY` if too many wait, or for too long;
   *   the signal's reason; what the work throws
   */
  take<T>(cost: bigint, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>
}

/** Validates transactions and changes nothing. `openEvaluations` of `@ratatosk/workers` implements it. */
export interface Evaluations<Result extends Evaluation = Evaluation> {
  /**
   * @param cbor any bytes
   * @param signal ends the wait for scripts; those that already run are finished
   * @throws (rejects) an error with a positive number `retryAfterMs` if too many wait; the signal's reason;
   *   errors of the store
   */
  evaluate(cbor: Uint8Array, signal?: AbortSignal): Promise<Result>
}
