import type { FastifyRequest } from 'fastify'

/** Memory units and CPU steps. */
export interface Units {
  readonly memory: bigint
  readonly steps: bigint
}

/** Why a transaction is not accepted. */
export interface Failure {
  /** Predicate of the Haskell ledger, or of the layer-2 profile. */
  readonly predicate: string
  readonly message: string
  readonly details: object
}

/** The script of one redeemer. */
export interface RedeemerReport {
  readonly purpose: string
  readonly index: number
  readonly declared: Units
  readonly outcome: {
    /** `Succeeded`, `NotReached`, or the name of a failure. */
    readonly kind: string
    readonly used?: Units
    readonly message?: string
    readonly logs?: readonly string[]
  }
}

/** What validation would make of a transaction. */
export interface Evaluation {
  readonly verdict: 'valid' | 'known' | 'retriable' | 'invalid'
  /** 32 bytes; undefined if the bytes are not a transaction. */
  readonly transactionId: Uint8Array | undefined
  readonly failures: readonly Failure[]
  readonly redeemers: readonly RedeemerReport[]
  readonly slot: bigint
}

/** Judges transactions without changing anything; `openEvaluations` of `@ratatosk/workers` satisfies it. */
export interface Evaluations {
  /**
   * @param cbor one well-formed CBOR item, which is not necessarily a transaction
   * @param signal aborts when the client has disconnected
   * @throws any error if the transaction cannot be judged now. A positive number `retryAfterMs` on the error
   *   makes the answer a 503
   *   with `Retry-After`; any other error is a 500.
   */
  evaluate(cbor: Uint8Array, signal?: FastifyRequest['signal']): Promise<Evaluation>
}
