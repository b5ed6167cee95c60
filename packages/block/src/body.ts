/** An output that a block produces and does not spend itself. */
export interface ProducedOutput {
  /** CBOR of the output reference, as `encodeOutputReference` of `@ratatosk/ledger` writes it. */
  readonly outref: Uint8Array
  /** CBOR of the output, byte for byte as in its transaction. */
  readonly output: Uint8Array
}

/**
 * The content of a block besides its header. Deposits and withdrawals are not part of the type: protocol
 * version 3 demands none, and the encoding has an empty list for each.
 */
export interface BlockBody {
  /** CBOR of the transactions as submitted, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** CBOR of each output reference that the block spends and does not produce; ascending. */
  readonly spent: readonly Uint8Array[]
  /** The outputs that the block produces and does not spend; ascending by reference. */
  readonly produced: readonly ProducedOutput[]
}

/** The changes of a block to the set of unspent outputs. */
export type BlockDiff = Pick<BlockBody, 'spent' | 'produced'>

/**
 * One part of a body, in the order of the encoding: every transaction, then every spent reference, then every
 * produced output.
 */
export type BodyPart =
  | { readonly kind: 'transaction'; readonly cbor: Uint8Array }
  | { readonly kind: 'spent'; readonly outref: Uint8Array }
  | ({ readonly kind: 'produced' } & ProducedOutput)
