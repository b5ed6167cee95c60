/** The output of a transaction, named by the transaction's id (32 bytes) and the output's position. */
export interface OutputReference {
  readonly transactionId: Uint8Array
  readonly index: number
}

/** A signed transaction that pays one claim. */
export interface Payment {
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
  /** What has not happened by then never will: its validity is over, with time to spare for clocks and forks. */
  readonly expiresAt: Date
}

/** A payment whose end is not known yet. */
export interface PaymentUnderWay {
  readonly payment: Payment
  /** The network has taken it, so that its change can be spent. */
  readonly accepted: boolean
}

/** Whom to pay, and out of what. */
export interface PaymentDraft {
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** Lovelace that must be left afterwards. */
  readonly floor: bigint
  /** Whatever other payments spend stays untouched; the change of those that were accepted may be spent. In their order. */
  readonly underWay: readonly PaymentUnderWay[]
}

export type Preparation =
  | {
      readonly kind: 'prepared'
      readonly payment: Payment
      /** The outputs of the faucet that it spends. */
      readonly spends: readonly OutputReference[]
    }
  /** What the wallet lacks now it will have once payments under way are accepted. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'depleted' }

/** What became of sending a payment. */
export type Sending =
  /** It is final. */
  | { readonly kind: 'settled' }
  /** The network has taken it. */
  | { readonly kind: 'accepted' }
  /** The network refuses it, and had not taken it before from this sending. */
  | { readonly kind: 'rejected'; readonly error: unknown }
  /** It did not reach the network. */
  | { readonly kind: 'unsent'; readonly error: unknown }
  /** It may have reached the network. */
  | { readonly kind: 'unknown'; readonly error: unknown }

/**
 * Where a payment stands. `settled`: it happened for good. `accepted`: the network has it. `possible`: the network does not know it,
 * and may still take it. `impossible`: it did not happen and never will.
 */
export type PaymentStatus = 'settled' | 'accepted' | 'possible' | 'impossible'

/** The faucet's money on one layer. It remembers nothing: what is under way is told to it. */
export interface FaucetWallet {
  /** Builds and signs a payment, and does not send it. Rejects where the network cannot be asked. */
  prepare(draft: PaymentDraft): Promise<Preparation>
  /** Sends a payment, once more if need be: the same bytes have one effect only. Failures of the network are answers. */
  send(payment: Payment): Promise<Sending>
  /** Looks for a payment. Rejects where the network cannot be asked. */
  status(payment: Payment): Promise<PaymentStatus>
}

/** What is asked of the store for one claim. */
export interface Reserve {
  readonly idempotencyKey: string
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  readonly ipHash: string
  /** Lovelace. */
  readonly amount: bigint
  readonly now: Date
  readonly cooldownMs: number
  /** Claims that count, with one `ipHash`, in the 24 hours before `now`. */
  readonly dailyIpLimit: number
  readonly leaseMs: number
}

/** A claim that is this process's to carry on, until its lease ends. */
export interface HeldClaim {
  /** UUID. */
  readonly id: string
  /** Greater than that of every hold before. */
  readonly token: bigint
  /** What it was before it was taken: `reserved` is under way, `failed` was not paid. A new claim is `failed` without a payment. */
  readonly state: 'reserved' | 'funded' | 'failed'
  readonly address: Uint8Array
  readonly amount: bigint
  readonly nextEligibleAt: Date
  /** The last one that was kept for it. */
  readonly payment?: Payment
}

/** What a funded claim was answered with. */
export interface FundedClaim {
  readonly id: string
  /** 32 bytes. */
  readonly paymentId: Uint8Array
  readonly amount: bigint
  readonly nextEligibleAt: Date
}

export type Reservation =
  | { readonly kind: 'held'; readonly claim: HeldClaim }
  | { readonly kind: 'funded'; readonly claim: FundedClaim }
  /** Somebody else carries it on. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'key-used' }
  /** `overdue`: a claim that counted has a payment that expired, and nobody has looked what became of it. */
  | { readonly kind: 'cooldown'; readonly nextEligibleAt: Date; readonly overdue: boolean }
  | { readonly kind: 'ip-limit'; readonly overdue: boolean }

/** How a hold ends. `undecided`: the claim stays as it is, for whoever takes it next. */
export type Conclusion = 'funded' | 'settled' | 'failed' | 'undecided'

/**
 * What remembers claims. It may be shared by processes: holds end by its own clock, and whatever is done under a hold that has
 * ended changes nothing.
 *
 * Claims that count for cool-down and IP limit: those that are funded, those with a payment that may still happen, and those that
 * somebody holds.
 */
export interface ClaimStore {
  /**
   * Judges a claim by its key, then by the cool-down of its address, then by the limit of its `ipHash`; reserves it where nothing is
   * against it. All at once: of many at the same time, as many get through as would one after another.
   */
  reserve(request: Reserve): Promise<Reservation>
  /** Keeps a payment before it is sent. `taken`: a payment under way spends the same output. `lost`: the hold has ended. */
  keep(
    claim: HeldClaim,
    payment: Payment,
    spends: readonly OutputReference[],
  ): Promise<'kept' | 'taken' | 'lost'>
  /** Extends those of the holds that have not ended to `leaseMs` from now. */
  extend(claims: readonly HeldClaim[], leaseMs: number): Promise<void>
  /** Ends a hold. False: somebody else has taken the claim, and nothing was changed. */
  conclude(claim: HeldClaim, conclusion: Conclusion): Promise<boolean>
  /** Payments that are neither settled nor impossible, in the order in which they were kept. */
  underWay(): Promise<readonly PaymentUnderWay[]>
  /** Takes claims whose payments are under way and that nobody holds, in the order in which their payments were kept. */
  take(leaseMs: number, limit: number): Promise<readonly HeldClaim[]>
}
