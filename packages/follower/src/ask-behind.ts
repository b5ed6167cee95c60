import { decodeHeader } from '@ratatosk/block'
import { BytesMap } from '@ratatosk/cbor'
import { childOf } from './child-controller.js'
import type { HeaderPath } from './header-path.js'
import type { Peers } from './peers.js'
import type { FollowerOptions } from './types.js'

/** Milliseconds after which a body that a peer has served, or was slow to serve, is asked for again. */
const [servedForMs, slowForMs] = [600_000, 60_000]
/** Milliseconds for one body, and for all between two reads of layer 1: the first block must not wait. */
const [bodyMs, roundMs] = [5_000, 30_000]

/** Asks peers for the bodies behind an unavailable block; an operator may withhold many. */
export function createAskBehind(
  peers: Peers,
  unavailable: FollowerOptions['unavailable'],
): (path: HeaderPath, missingHeight: bigint, signal: AbortSignal) => Promise<void> {
  /** Until when a block is left alone, by header hash, on the clock of `performance.now()`. */
  const restsUntil = new BytesMap<number>()

  /** Whether a peer has a body; undefined if that takes too long. */
  async function isServed(headerHash: Uint8Array, signal: AbortSignal): Promise<boolean | undefined> {
    const request = childOf(signal)
    const timer = setTimeout(() => request.abort(), bodyMs)
    const share = peers.openShare()
    try {
      return (await peers.askBody({ headerHash, share, signal: request.signal })) !== undefined
    } catch (error) {
      if (signal.aborted || !request.signal.aborted) throw error
      return undefined
    } finally {
      share.end()
      clearTimeout(timer)
      request.end()
    }
  }

  return async ({ fork, missing }: HeaderPath, missingHeight: bigint, signal: AbortSignal): Promise<void> => {
    if (unavailable === undefined) return
    const now = performance.now()
    for (const [hash, at] of restsUntil) if (at < now) restsUntil.delete(hash)
    const first = (fork?.height ?? 0n) + 1n
    for (const [index, { headerHash, header }] of missing.entries()) {
      const height = first + BigInt(index)
      if (height <= missingHeight || restsUntil.has(headerHash)) continue
      if (performance.now() > now + roundMs) return
      const served = await isServed(headerHash, signal)
      if (served === false) await unavailable({ headerHash, height, header: decodeHeader(header) }, signal)
      else restsUntil.set(headerHash, performance.now() + (served ? servedForMs : slowForMs))
    }
  }
}
