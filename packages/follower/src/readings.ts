import { type BlockBody, type Derivation, derive, requireDiff } from '@ratatosk/block'
import { movedParts } from '@ratatosk/fraud'

/** A body, and the map that its header commits to if it is read so. */
interface Reading {
  readonly body: BlockBody
  readonly derivation: Derivation
}

/**
 * The readings of a body of which its header may commit to any: where transactions do not decode, what the
 * scripts read of them, and that they move nothing. What a peer says of these is replaced.
 *
 * @throws {BlockError} (rejects) `BLOCK_BODY_MISMATCH` when it is the body of no header at all
 */
export async function readingsOf(body: BlockBody): Promise<readonly [Reading, ...Reading[]]> {
  const { transactions } = body
  let isMoved = false
  const derivation = await derive(transactions, (undecoded) => {
    const moved = movedParts(undecoded)
    isMoved ||= moved !== undefined
    return moved
  })
  if (!isMoved) {
    requireDiff(derivation, body)
    return [{ body, derivation }]
  }
  const reading = (own: Derivation): Reading => ({
    body: { transactions, ...own.diff() },
    derivation: own,
  })
  return [reading(derivation), reading(await derive(transactions))]
}
