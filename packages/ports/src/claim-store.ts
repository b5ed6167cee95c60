/** A signed transaction that pays one claim. */
export interface Payment {
  /** Id of the transaction, 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
  /**
   * A payment that is not on the ledger by then never will be: its validity interval and a safety margin are
   * over.
   */
  readonly expiresAt: Date
}

/** A payment that may still be lost or still be included. */
export interface UnsettledPayment {
  readonly payment: Payment
  /** Whether the network has accepted it, so that its change can be spent. */
  readonly accepted: boolean
}

/** The data to reserve a claim. */
export interface ReserveRequest {
  readonly idempotencyKey: string
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  readonly ipHash: string
  /** Lovelace. */
  readonly amount: bigint
  /** The caller's clock: cool-down and IP limit are counted from it. */
  readonly now: Date
  readonly cooldownMs: number
  /** The most claims with one `ipHash` in the 24 hours before `now`. */
  readonly dailyIpLimit: number
  /** How long the caller holds the claim, by the store's clock. */
  readonly leaseMs: number
}

/** A claim that the caller holds: until the lease ends, no other process works on it. */
export interface HeldClaim {
  /** UUID. */
  readonly id: string
  /** Fencing token: each hold of a claim has a greater one than the hold before. */
  readonly token: bigint
  /** The state before the caller took the claim: a new claim is `failed` without a payment. */
  readonly state: 'reserved' | 'funded' | 'failed'
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  /** Lovelace. */
  readonly amount: bigint
  readonly nextEligibleAt: Date
  /** The latest payment that was recorded for the claim. */
  readonly payment?: Payment
}

/** The answer to a funded claim. */
export interface FundedClaim {
  /** UUID. */
  readonly id: string
  /** Id of the payment's transaction, 32 bytes. */
  readonly paymentId: Uint8Array
  /** Lovelace. */
  readonly amount: bigint
  readonly nextEligibleAt: Date
}

/**
 * The outcome of reserving a claim. `overdue`: one of the claims that counted has an expired payment whose
 * result is unknown, so the refusal may not hold once it is looked up.
 */
export type Reservation =
  | { readonly kind: 'held'; readonly claim: HeldClaim }
  | { readonly kind: 'funded'; readonly claim: FundedClaim }
  /** Another caller holds the claim. */
  | { readonly kind: 'busy' }
  /** The key belongs to a claim of another address. */
  | { readonly kind: 'key-used' }
  | { readonly kind: 'cooldown'; readonly nextEligibleAt: Date; readonly overdue: boolean }
  | { readonly kind: 'ip-limit'; readonly overdue: boolean }

/**
 * How a hold ends. `funded`: the network has accepted the payment. `settled`: funded for good. `failed`: the
 * payment will never happen, and the outputs that it would have spent are free. `undecided`: the claim stays
 * as it is.
 */
export type Conclusion = 'funded' | 'settled' | 'failed' | 'undecided'

/**
 * Remembers claims: `reserved` → `funded`, or `failed`. Processes can share one: leases end by its own clock,
 * and a call with the token of a hold that has ended changes nothing.
 *
 * A claim counts for the cool-down and the IP limit while it is funded, has a payment that may still happen,
 * or is held.
 */
export interface ClaimStore {
  /**
   * Checks the key, then the cool-down of the address, then the limit of the `ipHash`, and reserves the claim
   * if all of them allow it. Atomic: concurrent claims pass or fail as they would one after another.
   */
  reserve(request: ReserveRequest): Promise<Reservation>
  /**
   * Records a payment before it is sent, in place of an earlier one.
   *
   * @returns `taken` if an unsettled payment spends one of the same outputs, `lost` if the hold has ended;
   *   nothing is
   *   changed then
   */
  keep(
    claim: HeldClaim,
    payment: Payment,
    spends: readonly { readonly transactionId: Uint8Array; readonly index: number }[],
  ): Promise<'kept' | 'taken' | 'lost'>
  /** Extends the leases to `leaseMs` from now, except those that have ended. */
  extend(claims: readonly HeldClaim[], leaseMs: number): Promise<void>
  /**
   * Ends a hold.
   *
   * @returns false if another caller has taken the claim; nothing is changed then
   */
  conclude(claim: HeldClaim, conclusion: Conclusion): Promise<boolean>
  /** The payments that are neither settled nor failed, in the order in which they were recorded. */
  underWay(): Promise<readonly UnsettledPayment[]>
  /**
   * Takes at most `limit` claims with unsettled payments that no process holds, in the order in which the
   * payments were recorded.
   */
  take(leaseMs: number, limit: number): Promise<readonly HeldClaim[]>
}

/** A claim at the faucet whose fields are well formed and whose address can be paid. */
export interface ClaimRequest {
  /** Identifies the claim: the same key with the same address gets the same result. 1 to 256 characters. */
  readonly idempotencyKey: string
  /** Bytes of a testnet address whose payment credential is a key (CIP-19). */
  readonly address: Uint8Array
  /** Identifies the requester's IP address, usually a hash of it. 1 to 256 characters. */
  readonly ipHash: string
}

/** How a claim ended. */
export type ClaimResult =
  /** The network has the payment. */
  | {
      readonly kind: 'funded'
      /** UUID. */
      readonly claimId: string
      /** Id of the payment's transaction, 64 hex digits. */
      readonly txHash: string
      /** Lovelace. */
      readonly amount: bigint
      readonly nextEligibleAt: Date
    }
  /** The idempotency key belongs to a claim of another address. */
  | { readonly kind: 'key-used' }
  /** The address claimed too recently. */
  | { readonly kind: 'cooldown'; readonly nextEligibleAt: Date }
  /** The daily limit for this `ipHash` is reached. */
  | { readonly kind: 'ip-limit' }
  /** The wallet cannot pay without falling below its minimum balance. */
  | { readonly kind: 'depleted' }
  /** The network rejected the payment. The same key may be used again. */
  | { readonly kind: 'validation-failed' }
  /** It is not known yet whether the claim was paid. The same key, used again later, gets the result. */
  | { readonly kind: 'undecided' }

/** Pays claims. The faucet plugin needs nothing else. */
export interface ClaimPayer {
  /**
   * Pays a claim once. The same key and address again, even at the same time or from another process, get the
   * same result and no second payment.
   *
   * @throws (rejects) when the store or the network fails; the same key may be used again then, too
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
}
