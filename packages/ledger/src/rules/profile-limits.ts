/**
 * The most that layer 2 allows of a transaction, so that a proof of any breach of its rules, the removal of
 * the block and the slashing fit into one transaction of layer 1: `COSTS.md` of `@ratatosk/contracts` has the
 * worst of each.
 */
export const profileLimits = {
  /** Bytes of a transaction, which bound those of a block. */
  transactionBytes: 16_384,
  /** Bytes of a body and of a witness set: each fits into the datum of an output of layer 1. */
  bodyBytes: 14_336,
  witnessSetBytes: 14_336,
  /** CBOR items: every head, those of containers, tags and chunks of strings included, and every break. */
  bodyItems: 600,
  witnessSetItems: 600,
  /** Inputs, of which each reference input counts as two: it may take two proofs of maps. */
  inputs: 60,
  outputs: 100,
  keyWitnesses: 32,
  scripts: 20,
  datums: 80,
  redeemers: 20,
  /** CBOR items and bytes of all outputs that inputs and reference inputs stand for. */
  resolvedItems: 600,
  resolvedBytes: 65_536,
  /** CBOR items of a native script that a transaction needs. */
  nativeScriptItems: 80,
} as const
