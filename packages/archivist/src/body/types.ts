/** An output that a block leaves behind. */
export interface ProducedOutput {
  /** CBOR of the output reference, as `encodeOutputReference` writes it. */
  readonly outref: Uint8Array
  /** CBOR of the output, as it stands in its transaction. */
  readonly output: Uint8Array
}

/**
 * What a block holds beside its header. Deposits and withdrawals are no part of the type yet: there are none, and the encoding
 * has an empty list for each.
 */
export interface BlockBody {
  /** CBOR as submitted, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** CBOR of each output reference that was unspent before the block and is spent after it; ascending. */
  readonly spent: readonly Uint8Array[]
  /** The outputs that the block makes and does not spend itself; ascending by reference. */
  readonly produced: readonly ProducedOutput[]
}

/** One part of a body, in the order of the encoding: all transactions, then all spent, then all produced. */
export type BodyPart =
  | { readonly kind: 'transaction'; readonly cbor: Uint8Array }
  | { readonly kind: 'spent'; readonly outref: Uint8Array }
  | ({ readonly kind: 'produced' } & ProducedOutput)

/** What a block does to the unspent outputs. */
export type BlockDiff = Pick<BlockBody, 'spent' | 'produced'>
