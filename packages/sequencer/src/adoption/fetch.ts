import { type BlockBody, bodyOf, isBlockError } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import type { Peer } from '@ratatosk/follower'
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

/** An error that is not the peer's. */
interface Failure {
  readonly failure: unknown
}

type Checked<Result> = (Failure & { readonly result?: undefined }) | { readonly result: Result }

/** The header of a merged block, which layer 1 no longer shows; undefined if no peer has it now. */
export async function fetchHeader(
  { adoption, ends }: Pick<SequencerContext, 'adoption' | 'ends'>,
  headerHash: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (adoption === undefined) return undefined
  return ask(adoption, ends, async (peer) => {
    const found = await peer.headerByHash(headerHash, ends)
    if (found !== undefined && !equalBytes(found.headerHash, headerHash))
      throw new TypeError('It sent the header of another block')
    return found?.header
  })
}

/** @throws {SequencerError} `SEQUENCER_NOT_ACTIVE` when the lease is lost or the sequencer closes */
async function ask<Result>(
  { peers }: AdoptionMeans,
  ends: AbortSignal,
  question: (peer: Peer) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await peers.ask(question, ends)
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
  means: AdoptionMeans,
  headerHash: Uint8Array,
  check: (body: BlockBody) => Promise<Result>,
): Promise<Result | undefined> {
  const kept = await store.bodies.of(headerHash)
  const own = kept && (await checked(await keptBody(kept)).catch(() => undefined))
  const found = own ?? (await fromPeers())
  if (found === undefined) return undefined
  if ('failure' in found) throw found.failure
  return found.result

  async function keptBody(transactions: readonly Uint8Array[]): Promise<BlockBody> {
    const deposits = await store.blocks.creditsOf(headerHash)
    return bodyOf(transactions, { deposits, bridge: means.rules.bridge })
  }

  async function fromPeers(): Promise<Checked<Result> | undefined> {
    const share = means.peers.openShare()
    try {
      return await means.peers.askBody({ headerHash, share, signal: ends, check: checked })
    } catch (error) {
      throw ends.aborted ? notActive() : error
    } finally {
      share.end()
    }
  }

  /** Rejects only if the body belongs to another header. */
  async function checked(body: BlockBody): Promise<Checked<Result>> {
    try {
      return { result: await check(body) }
    } catch (failure) {
      if (isBlockError(failure)) throw failure
      return { failure }
    }
  }
}
