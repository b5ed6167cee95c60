/** The finding about a block that a watcher disputes. */
export interface VerdictFinding {
  readonly block: {
    /** 28 bytes. */
    readonly headerHash: Uint8Array
    readonly height: bigint
    /** Blake2b-224 of the operator's verification key, 28 bytes. */
    readonly operatorKey: Uint8Array
  }
  /**
   * `unavailable`: no one serves its body; `valid`: that came, and breaks no rule; `invalid`: a rule is
   * broken; `unprovable`: and no policy can prove it on layer 1; `removing`: transactions are sent;
   * `removed`: the block left the state queue.
   */
  readonly state: 'unavailable' | 'valid' | 'invalid' | 'unprovable' | 'removing' | 'removed'
  /** The broken rule, or what is missing, for people. */
  readonly reason: string
  /** The policy that proves the fraud, and the fraud; absent until one is found. */
  readonly proof?: { readonly policy: string; readonly fraud: string }
}

/** A layer-1 transaction of a watcher. */
export interface VerdictTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  /**
   * It asks a question of the summons, pays outputs whose datums are parts of a proof, mints the verdict,
   * removes the block, or prunes the blocks behind it.
   */
  readonly stage: 'question' | 'datum' | 'verdict' | 'removal' | 'prune'
  /** Lovelace. */
  readonly fee: bigint
  readonly sentAt: Date
}

/** A verdict in a list. */
export interface BlockVerdict extends VerdictFinding {
  /** Position of the transaction that breaks the rule, from 0; absent when the block as a whole does. */
  readonly position?: number
  /** Those that layer 1 has included or may include, in the order in which they were built. */
  readonly transactions: readonly VerdictTransaction[]
  readonly foundAt: Date
  readonly removedAt?: Date
}
