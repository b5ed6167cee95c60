/** A deposit on layer 1 that a block credits. */
export interface Deposit {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** CBOR of the output that the deposit becomes: output 0 of its id. */
  readonly output: Uint8Array
}

/** An output that a block brings, by a transaction or a deposit, and does not spend itself. */
export interface ProducedOutput {
  /** CBOR of the output reference, as `encodeOutputReference` of `@ratatosk/ledger` writes it. */
  readonly outref: Uint8Array
  /** CBOR of the output, byte for byte as in its transaction or deposit. */
  readonly output: Uint8Array
}

/**
 * The content of a block besides its header. Withdrawals follow from the transactions: the encoding has an
 * empty list for those that layer 1 orders, which block version 4 does not have.
 */
export interface BlockBody {
  /** CBOR of the transactions as submitted, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** CBOR of each output reference that the block spends and does not bring; ascending. */
  readonly spent: readonly Uint8Array[]
  /** The outputs that the block brings and neither spends nor lets leave; ascending by reference. */
  readonly produced: readonly ProducedOutput[]
  /** Ascending by id; none by default. */
  readonly deposits?: readonly Deposit[]
}

/** The changes of a block to the set of unspent outputs. */
export type BlockDiff = Pick<BlockBody, 'spent' | 'produced'>

/**
 * One part of a body, in the order of the encoding: every transaction, then every spent reference, then every
 * produced output, then every deposit.
 */
export type BodyPart =
  | { readonly kind: 'transaction'; readonly cbor: Uint8Array }
  | { readonly kind: 'spent'; readonly outref: Uint8Array }
  | ({ readonly kind: 'produced' } & ProducedOutput)
  | ({ readonly kind: 'deposit' } & Deposit)
