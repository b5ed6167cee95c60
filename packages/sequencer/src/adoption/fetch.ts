import { type BlockBody, bodyOf, isBlockError } from '@ratatosk/block'
import type { SequencerContext } from '../context.js'
import { notActive } from '../errors.js'
import type { AdoptionMeans } from '../types.js'

/** A block that layer 1 has and the store lacks. */
export interface ForeignHeader {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** The header of a merged block, which layer 1 no longer shows; undefined if no peer has it now. */
export async function fetchHeader(
  { adoption, ends }: Pick<SequencerContext, 'adoption' | 'ends'>,
  headerHash: Uint8Array,
): Promise<Uint8Array | undefined> {
  const ask = async () => adoption?.peers.ask((peer) => peer.headerByHash(headerHash, ends), ends)
  return (await asked(ends, ask))?.header
}

/** @throws {SequencerError} `SEQUENCER_NOT_ACTIVE` when the lease is lost or the sequencer closes */
async function asked<Result>(ends: AbortSignal, answer: () => Promise<Result>): Promise<Result> {
  try {
    return await answer()
  } catch (error) {
    throw ends.aborted ? notActive() : error
  }
}

/**
 * Gets the next body from the kept ones or a peer; undefined if none has it. A peer that sends the body of
 * another header (`check` rejects with a {@link BlockError}) backs off, and the next one is asked.
 */
export async function fetchBody<Result>(
  { store, ends }: Pick<SequencerContext, 'store' | 'ends'>,
  { peers, rules: { bridge } }: AdoptionMeans,
  headerHash: Uint8Array,
  check: (body: BlockBody) => Promise<Result>,
): Promise<Result | undefined> {
  async function kept(): Promise<BlockBody | undefined> {
    const transactions = await store.bodies.of(headerHash)
    if (transactions === undefined) return undefined
    return bodyOf(transactions, { deposits: await store.blocks.creditsOf(headerHash), bridge })
  }

  /** Rejects only if the body belongs to another header: no other error is the peer's. */
  async function checked(body: BlockBody): Promise<PromiseSettledResult<Result>> {
    const [result] = await Promise.allSettled([check(body)])
    if (result.status === 'rejected' && isBlockError(result.reason)) throw result.reason
    return result
  }

  const found = await asked(ends, () => peers.askBody({ headerHash, signal: ends, kept, check: checked }))
  if (found?.status === 'rejected') throw found.reason
  return found?.value
}
