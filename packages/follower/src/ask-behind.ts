import { decodeHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { HeaderPath } from './header-path.js'
import type { Peers } from './peers.js'
import type { FollowerOptions } from './types.js'

/** Milliseconds after which a body that a peer has served is asked for again. */
const servedForMs = 600_000

/**
 * Asks peers for the bodies behind a block whose body none of them has, and gives those that none has to
 * `unavailable`: one block after the other would take too long where an operator withholds many.
 */
export function createAskBehind(peers: Peers, unavailable: FollowerOptions['unavailable']) {
  /** When a body was served, by header hash, on the clock of `performance.now()`. */
  const served = new Map<string, number>()

  return async ({ fork, missing }: HeaderPath, missingHeight: bigint, signal: AbortSignal): Promise<void> => {
    if (unavailable === undefined) return
    const now = performance.now()
    for (const [name, at] of served) if (now - at > servedForMs) served.delete(name)
    const first = (fork?.height ?? 0n) + 1n
    for (const [index, { headerHash, header }] of missing.entries()) {
      const height = first + BigInt(index)
      const name = toHex(headerHash)
      if (height <= missingHeight || served.has(name)) continue
      const body = await peers.ask((peer) => peer.body(headerHash, signal), signal)
      if (body !== undefined) served.set(name, performance.now())
      else await unavailable({ headerHash, height, header: decodeHeader(header) }, signal)
    }
  }
}
