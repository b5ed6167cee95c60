import type { OutputReference } from '../types.js'

/** A signed transaction that pays one claim. */
export interface FaucetPayment {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
  /** What has not happened by then never will. */
  readonly expiresAt: Date
}

export interface FaucetClaimRequest {
  readonly idempotencyKey: string
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  readonly ipHash: string
  /** Lovelace. */
  readonly amount: bigint
  /** By the caller's clock: cool-down and limit are counted from it. */
  readonly now: Date
  readonly cooldownMs: number
  /** Claims that count, with one `ipHash`, in the 24 hours before `now`. */
  readonly dailyIpLimit: number
  /** How long the claim is the caller's, by the database's clock. */
  readonly leaseMs: number
}

/** A claim that is the caller's to carry on. */
export interface HeldFaucetClaim {
  /** UUID. */
  readonly id: string
  /** Fencing token: greater than that of every hold of the claim before. */
  readonly token: bigint
  /** What it was before it was taken; a new one is `failed` without a payment. */
  readonly state: 'reserved' | 'funded' | 'failed'
  readonly address: Uint8Array
  readonly amount: bigint
  readonly nextEligibleAt: Date
  /** The last one that was kept for it. */
  readonly payment?: FaucetPayment
}

export interface FundedFaucetClaim {
  /** UUID. */
  readonly id: string
  /** 32 bytes. */
  readonly paymentId: Uint8Array
  readonly amount: bigint
  readonly nextEligibleAt: Date
}

export type FaucetReservation =
  | { readonly kind: 'held'; readonly claim: HeldFaucetClaim }
  | { readonly kind: 'funded'; readonly claim: FundedFaucetClaim }
  /** Somebody else holds it. */
  | { readonly kind: 'busy' }
  /** The key belongs to a claim of another address. */
  | { readonly kind: 'key-used' }
  /** `overdue`: among the claims that counted is one whose payment has expired without anybody looking what became of it. */
  | { readonly kind: 'cooldown'; readonly nextEligibleAt: Date; readonly overdue: boolean }
  | { readonly kind: 'ip-limit'; readonly overdue: boolean }

/**
 * Claims at the faucet: `reserved` → `funded`, or `failed`. Those count for cool-down and limit that are funded, that are reserved and
 * have a payment, or that somebody holds.
 */
export interface FaucetClaims {
  /**
   * Judges a claim by its key, then by the cool-down of its address, then by the limit of its `ipHash`, and reserves it where nothing is
   * against it. One SQL transaction, under locks of that key, address and `ipHash` alone.
   */
  reserve(request: FaucetClaimRequest): Promise<FaucetReservation>
  /**
   * Keeps the payment of a claim, in the place of an earlier one. `taken`: the payment of another claim spends one of the same outputs;
   * `lost`: the hold has ended. Nothing is changed then.
   */
  keep(
    claim: HeldFaucetClaim,
    payment: FaucetPayment,
    spends: readonly OutputReference[],
  ): Promise<'kept' | 'taken' | 'lost'>
  /** Extends those of the holds that have not ended to `leaseMs` from now. */
  extend(claims: readonly HeldFaucetClaim[], leaseMs: number): Promise<void>
  /**
   * Ends a hold. `settled` is funded for good; `failed` frees the outputs that the payment would have spent; `undecided` changes
   * nothing else. False: somebody else has taken the claim, and nothing was changed.
   */
  conclude(
    claim: HeldFaucetClaim,
    conclusion: 'funded' | 'settled' | 'failed' | 'undecided',
  ): Promise<boolean>
  /** The payments that are neither settled nor failed, in the order in which they were kept; `accepted`: of a funded claim. */
  underWay(): Promise<{ readonly payment: FaucetPayment; readonly accepted: boolean }[]>
  /** Takes claims whose payments are under way and that nobody holds, in the order in which their payments were kept. */
  take(leaseMs: number, limit: number): Promise<HeldFaucetClaim[]>
}
