import {
  type BlockBody,
  BlockError,
  type Derivation,
  type DerivedBlock,
  decoded,
  derive,
  type Header,
  isInvalidBlock,
  type OutputHashes,
  type ReadBody,
  verifyRoot,
} from '@ratatosk/block'
import { movedParts } from '@ratatosk/protocol/fraud'

/** A body that belongs to its header. */
export interface RightBody {
  readonly body: BlockBody
  /** The block's change of the outputs. Absent if no block with this body is valid. */
  readonly outputs?: DerivedBlock['outputs']
  /** Why no block with this body is valid. Its sender is not at fault. */
  readonly error?: BlockError
}

/** A body as its header may commit to it. */
interface Reading {
  readonly derivation: Derivation
  /** The diff of the peer, if that must follow from the transactions. */
  readonly diff?: BlockBody
}

/** The readings of a body of which its header may commit to any; they replace what a peer says of them. */
async function* readingsOf(body: BlockBody, bridge: Uint8Array | undefined): AsyncGenerator<Reading, void> {
  // Without a bridge there are no deposits, and the rest of an encoded body is not decoded for them.
  if (bridge !== undefined) await decoded(body)
  const content = bridge === undefined ? { transactions: body.transactions } : body
  let isMoved = false
  const read: ReadBody = (undecoded) => {
    const moved = movedParts(undecoded)
    isMoved ||= moved !== undefined
    return moved
  }
  const derivation = await derive(content, { read, bridge })
  if (!isMoved) return yield { derivation, diff: body }
  yield { derivation }
  yield { derivation: await derive(content, { bridge }) }
}

/** A body with the diff that a reading of it has. */
async function bodyWith(
  { diffInTurns }: Derivation,
  { transactions, deposits = [] }: BlockBody,
): Promise<BlockBody> {
  return { transactions, ...(await diffInTurns()), deposits }
}

/**
 * Finds the reading of a body that a header commits to. Each is compared with the header's root before
 * anything else is made of it.
 *
 * @param before the outputs before the block
 * @param bridge hash of the bridge's script, in a deployment that has one
 * @throws {BlockError} (rejects) `BLOCK_BODY_MISMATCH` when the body belongs to another header
 */
export async function verifyReadings(
  body: BlockBody,
  header: Pick<Header, 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot'>,
  before: (derivation: Derivation) => OutputHashes | Promise<OutputHashes>,
  bridge?: Uint8Array,
): Promise<RightBody> {
  let mismatch: unknown
  for await (const { derivation, diff } of readingsOf(body, bridge)) {
    const right = async () => diff ?? (await bodyWith(derivation, body))
    try {
      const outputs = await verifyRoot(derivation, header, await before(derivation), diff)
      return { body: await right(), outputs }
    } catch (error) {
      if (isInvalidBlock(error)) return { body: await right(), error }
      mismatch ??= error
    }
  }
  throw mismatch
}

/** The first reading, without a header. @throws {BlockError} `BLOCK_BODY_MISMATCH` if it fits no header */
export async function firstReading(body: BlockBody, bridge?: Uint8Array): Promise<BlockBody> {
  for await (const { derivation, diff } of readingsOf(body, bridge)) {
    if (diff === undefined) return bodyWith(derivation, body)
    if (await derivation.hasDiff(await decoded(diff))) return body
  }
  throw new BlockError(
    'BLOCK_BODY_MISMATCH',
    'Spent and produced outputs do not follow from the transactions',
  )
}
