/** A fraud that was found. */
export interface FoundFraud<FraudProof> {
  readonly proof: FraudProof
  /** The redeemer that proves it: Plutus data CBOR. */
  readonly redeemer: Uint8Array
}

/** How many frauds are compared for the smallest proof. */
const compared = 16

/** Steps after which a fraud waits for no other to be compared with. */
const mostSteps = 4096

/** Marks a step of a search, after which other work may run. */
export const step = undefined

/** Work with steps in between. */
export type Stepping<Result> = Generator<typeof step, Result>

/** Frauds as they are found, a few at once with the smallest proofs first, and steps in between. */
export type Search<FraudProof> = Generator<readonly FoundFraud<FraudProof>[] | typeof step, void>

/**
 * Each few proofs in the order of their sizes; steps are passed on.
 *
 * @param besides bytes of other redeemers that a proof needs
 */
export function* smallestFirst<FraudProof>(
  proofs: Iterable<FraudProof | typeof step>,
  encode: (proof: FraudProof) => Uint8Array,
  besides: (proof: FraudProof) => number = () => 0,
): Search<FraudProof> {
  const held: FoundFraud<FraudProof>[] = []
  let steps = 0
  const release = () => {
    steps = 0
    const size = ({ proof, redeemer }: FoundFraud<FraudProof>) => redeemer.length + besides(proof)
    return held.splice(0).sort((a, b) => size(a) - size(b))
  }
  for (const proof of proofs) {
    if (proof === step) {
      yield step
      if (held.length > 0 && ++steps === mostSteps) yield release()
    } else {
      held.push({ proof, redeemer: encode(proof) })
      if (held.length === compared) yield release()
    }
  }
  if (held.length > 0) yield release()
}

/** The smallest of the first that are found; undefined if there is none. */
export function firstFound<Found>(search: Iterable<readonly Found[] | typeof step>): Found | undefined {
  for (const found of search) if (found !== step) return found[0]
  return undefined
}
