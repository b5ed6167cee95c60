import { type BlockBody, bodyOf, decodeHeader, isInvalidBlock, verifyHeader } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { type Peer, type RightBody, readingsOf, verifyReadings } from '@ratatosk/follower'
import type { SequencerContext } from '../context.js'
import { notActive } from '../errors.js'
import type { AdoptionMeans } from '../types.js'
import { type OutputsBefore, readOutputsBefore } from './outputs-before.js'

/** A block that layer 1 has and the store lacks. */
export interface ForeignHeader {
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** A body that belongs to its header, with the outputs before the block that its transactions name. */
export interface FetchedBody extends RightBody {
  readonly before: OutputsBefore
}

/** An error that is not the peer's. */
interface Failure {
  readonly failure: unknown
}

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
 * Gets the body of the block after the store's newest one: from the bodies that were kept when blocks left,
 * or from a peer. A peer that sends a body of another header backs off, and the next one is asked.
 *
 * @returns undefined if no peer has it now
 */
export async function fetchBody(
  { store, ends }: Pick<SequencerContext, 'store' | 'ends'>,
  means: AdoptionMeans,
  { headerHash, header: encoded }: ForeignHeader,
): Promise<FetchedBody | undefined> {
  const header = decodeHeader(encoded)
  const kept = await store.bodies.of(headerHash)
  const own = kept && (await examined(bodyOf(kept)).catch(() => undefined))
  const found =
    own ??
    (await ask(means, ends, async (peer) => {
      const body = await peer.body(headerHash, ends)
      return body && examined(body)
    }))
  if (found !== undefined && 'failure' in found) throw found.failure
  return found

  /** @throws if it does not belong to the header */
  async function examined(body: BlockBody): Promise<FetchedBody | Failure> {
    const readings = await readingsOf(body)
    const named = readings.flatMap((reading) => [...reading.body.spent, ...reading.derivation.read()])
    const read = readOutputsBefore(store, body.transactions, named)
    // A failing store is not the peer's fault.
    const before = await read.catch((failure: unknown): Failure => ({ failure }))
    if ('failure' in before) return before
    try {
      verifyHeader(header)
    } catch (error) {
      // Nor is what the operator committed.
      if (isInvalidBlock(error)) return { body, before, error }
      throw error
    }
    return { ...(await verifyReadings(readings, header, before.hashOf)), before }
  }
}
