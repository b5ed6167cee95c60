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
