/** A fraud that was found. */
export interface FoundFraud<FraudProof> {
  readonly proof: FraudProof
  /** The redeemer that proves it: Plutus data CBOR. */
  readonly redeemer: Uint8Array
  /** The parts whose tokens it refers to, in its order. */
  readonly parts?: readonly ProofPart[]
}

/** A part of a proof that a token shows. */
export interface ProofPart {
  /** Of the token, 32 bytes. */
  readonly name: Uint8Array
  /** The redeemer of the policy that mints it. */
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

/** Each few proofs in the order of their sizes, with those of their parts; steps are passed on. */
export function* smallestFirst<FraudProof>(
  proofs: Iterable<FraudProof | typeof step>,
  encode: (proof: FraudProof) => Uint8Array,
  partsOf: (proof: FraudProof) => readonly ProofPart[] = () => [],
): Search<FraudProof> {
  const held: FoundFraud<FraudProof>[] = []
  let steps = 0
  const release = () => {
    steps = 0
    return held.splice(0).sort((a, b) => sizeOf(a) - sizeOf(b))
  }
  for (const proof of proofs) {
    if (proof === step) {
      yield step
      if (held.length > 0 && ++steps === mostSteps) yield release()
    } else {
      held.push({ proof, redeemer: encode(proof), parts: partsOf(proof) })
      if (held.length === compared) yield release()
    }
  }
  if (held.length > 0) yield release()
}

const sizeOf = ({ redeemer, parts = [] }: Omit<FoundFraud<unknown>, 'proof'>): number =>
  parts.reduce((sum, part) => sum + part.redeemer.length, redeemer.length)

/** The smallest of the first that are found; undefined if there is none. */
export function firstFound<Found>(search: Iterable<readonly Found[] | typeof step>): Found | undefined {
  for (const found of search) if (found !== step) return found[0]
  return undefined
}
