/** One claim, judged as far as its shape and its address. */
export interface ClaimRequest {
  readonly idempotencyKey: string
  /** Bytes of an address with a payment key (CIP-19). */
  readonly address: Uint8Array
  /** Stands for the requester's IP address. */
  readonly ipHash: string
}

/** What became of a claim. */
export type ClaimResult =
  | {
      readonly kind: 'funded'
      /** UUID. */
      readonly claimId: string
      /** 64 hex digits. */
      readonly txHash: string
      /** Lovelace. */
      readonly amount: bigint
      readonly nextEligibleAt: Date
    }
  /** The key belongs to a claim of another address. */
  | { readonly kind: 'key-used' }
  | { readonly kind: 'cooldown'; readonly nextEligibleAt: Date }
  | { readonly kind: 'ip-limit' }
  | { readonly kind: 'depleted' }
  /** The network refuses the payment. */
  | { readonly kind: 'validation-failed' }
  /** Not known yet: the same key, later, finds out. */
  | { readonly kind: 'undecided' }

/** Pays claims, each once. */
export interface Faucet {
  /**
   * Carries a claim to its end. The same key and address again, also at the same time and from another process, get the
   * same result and no second payment. Rejects where store or network fail; the same key may be used again then, too.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /**
   * Finds out what became of payments under way, and sends those again that the network has lost; for the start, where an earlier
   * process may have left some. Afterwards it is done by itself as long as any are under way. Rejects where the store fails;
   * failures of the network go to the log.
   *
   * @returns how many are still under way
   */
  settle(): Promise<number>
  /** Ends by itself what is done by itself, and waits for claims under way. Safe to call twice. */
  close(): Promise<void>
}

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
