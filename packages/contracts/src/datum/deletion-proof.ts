import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { constr, constrOf, decodePlutusData, listOf, type PlutusData } from '@ratatosk/ledger/plutus-data'

const hashLength = 32
const levels = 4
const childCount = 2 ** levels
/** Constructor of a proof's step past a branch that has two or more other children. */
const branchStep = 0

/** The hash of a subtree of 2^level children of a branch that are not there. */
export const emptySubtrees: readonly Uint8Array[] = Array.from({ length: levels }).reduce<Uint8Array[]>(
  (hashes) => {
    const below = hashes.at(-1)
    return [...hashes, below ? blake2b256(concatBytes(below, below)) : new Uint8Array(hashLength)]
  },
  [],
)

const partAt = (hashes: Uint8Array, place: number): Uint8Array =>
  hashes.subarray(place * hashLength, (place + 1) * hashLength)

/** Whether two of a child's siblings, highest level first, have children. */
const hasTwo = (siblings: Uint8Array): boolean =>
  emptySubtrees.filter((empty, level) => !equalBytes(partAt(siblings, levels - 1 - level), empty)).length > 1

/**
 * The proof by which the bridge deletes a key: where the siblings of its last branch do not show that two
 * children are left, it names another child whose siblings do.
 *
 * @param proof CBOR as `proofToCbor` of `@ratatosk/trie` writes it
 * @param children of the last branch, 16 × 32 bytes
 * @throws RangeError if they are needed and missing
 * @throws {PlutusDataError} if the bytes are not a proof
 */
export function deletionProof(proof: Uint8Array, children: Uint8Array | undefined): PlutusData {
  const steps = listOf(decodePlutusData(proof), 'proof')
  const last = steps.at(-1)
  if (last === undefined) return steps
  const { index, fields } = constrOf(last, 'step')
  const [, siblings] = fields
  if (index !== branchStep || !(siblings instanceof Uint8Array) || hasTwo(siblings)) return steps
  if (children?.length !== childCount * hashLength)
    throw new RangeError('The children of the last branch of the proof are missing')
  return [...steps.slice(0, -1), constr(index, ...fields, otherChild(children))]
}

/** `[nibble, hash, siblings]` of a child whose siblings show two others: one of three children is such. */
function otherChild(children: Uint8Array): PlutusData {
  const subtrees = [children]
  for (let level = 1; level < levels; level++) {
    const below = subtrees[level - 1] ?? children
    const pairs = Array.from({ length: below.length / (2 * hashLength) }, (_, place) =>
      blake2b256(below.subarray(2 * place * hashLength, 2 * (place + 1) * hashLength)),
    )
    subtrees.push(concatBytes(...pairs))
  }
  for (let nibble = 0; nibble < childCount; nibble++) {
    const child = partAt(children, nibble)
    const siblings = concatBytes(
      ...subtrees.map((hashes, level) => partAt(hashes, (nibble >> level) ^ 1)).reverse(),
    )
    if (child.some((byte) => byte !== 0) && hasTwo(siblings)) return [BigInt(nibble), child, siblings]
  }
  throw new RangeError('The branch has fewer than three children')
}
