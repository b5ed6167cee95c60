import {
  type BlockBody,
  type BlockError,
  type Derivation,
  type DerivedBlock,
  derive,
  type Header,
  isInvalidBlock,
  type OutputHashes,
  requireDiff,
  verifyRoot,
} from '@ratatosk/block'
import { movedParts } from '@ratatosk/fraud'

/** A body, and the map that its header commits to if it is read so. */
export interface Reading {
  readonly body: BlockBody
  readonly derivation: Derivation
}

/** A body that belongs to its header. */
export interface RightBody {
  readonly body: BlockBody
  /** What the block does to the outputs. Absent if no block with this body is valid. */
  readonly outputs?: DerivedBlock['outputs']
  /** Why no block with this body is valid. Its sender is not at fault. */
  readonly error?: BlockError
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

/**
 * Finds the reading that a header commits to.
 *
 * @param before the outputs before the block
 * @throws {BlockError} (rejects) `BLOCK_BODY_MISMATCH` when the body belongs to another header
 */
export async function verifyReadings(
  readings: readonly Reading[],
  header: Pick<Header, 'transactionsRoot'>,
  before: OutputHashes,
): Promise<RightBody> {
  let mismatch: unknown
  for (const { derivation, body } of readings) {
    try {
      return { body, outputs: await verifyRoot(derivation, header, before) }
    } catch (error) {
      if (isInvalidBlock(error)) return { body, error }
      mismatch ??= error
    }
  }
  throw mismatch
}
