/** A fraud that was found. */
export interface FoundFraud<FraudProof> {
  readonly proof: FraudProof
  /** The redeemer that proves it: Plutus data CBOR. */
  readonly redeemer: Uint8Array
}

/** How many frauds are compared for the smallest proof. */
const compared = 16

/** The smallest of the first proofs; undefined if there is none. */
export function smallestOf<FraudProof>(
  proofs: Iterable<FraudProof>,
  encode: (proof: FraudProof) => Uint8Array,
): FoundFraud<FraudProof> | undefined {
  let smallest: FoundFraud<FraudProof> | undefined
  let count = 0
  for (const proof of proofs) {
    const redeemer = encode(proof)
    if (smallest === undefined || redeemer.length < smallest.redeemer.length) smallest = { proof, redeemer }
    if (++count === compared) break
  }
  return smallest
}
