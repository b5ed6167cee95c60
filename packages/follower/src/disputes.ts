import { decodeHeader } from '@ratatosk/block'
import { BytesMap, equalBytes } from '@ratatosk/cbor'
import type { HeaderPath } from './header-path.js'
import { childOf } from './peer-request.js'
import type { Peers } from './peers.js'
import type { FollowerOptions, InvalidBlock } from './types.js'

/** Milliseconds after which a body that a peer has served, or was slow to serve, is asked for again. */
const [servedForMs, slowForMs] = [600_000, 60_000]
/** Milliseconds for one body, and for all between two reads of layer 1: the first block must not wait. */
const [bodyMs, roundMs] = [5_000, 30_000]

/** Asks peers for the bodies behind an unavailable block; an operator may withhold many. */
export function createAskBehind(
  peers: Peers,
  { unavailable }: Pick<FollowerOptions, 'unavailable'>,
): (path: HeaderPath, missingHeight: bigint, signal: AbortSignal) => Promise<void> {
  /** Until when a block is left alone, by header hash, on the clock of `performance.now()`. */
  const restsUntil = new BytesMap<number>()

  /** Whether a peer has a body; undefined if that takes too long. */
  async function isServed(headerHash: Uint8Array, signal: AbortSignal): Promise<boolean | undefined> {
    const request = childOf(signal)
    const timer = setTimeout(() => request.abort(), bodyMs)
    try {
      return (await peers.askBody({ headerHash, signal: request.signal })) !== undefined
    } catch (error) {
      if (signal.aborted || !request.signal.aborted) throw error
      return undefined
    } finally {
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
      // A peer may serve anything: only a body that is verified ends the wish for it.
      else restsUntil.set(headerHash, performance.now() + (served ? servedForMs : slowForMs))
    }
  }
}

/** The newest call of {@link FollowerOptions.watch}. */
interface Watch {
  begin(block: InvalidBlock): void
  /** The status of the call about a block; undefined if the newest call is not about it. */
  stateOf(headerHash: Uint8Array): 'runs' | 'unprovable' | undefined
  /** Ends the call unless it is about this block; resolves when it has ended. */
  keepOnly(headerHash: Uint8Array | undefined): Promise<void>
}

interface Call {
  readonly headerHash: Uint8Array
  readonly end: () => Promise<void>
  isUnprovable: boolean
}

/** `closing` aborts when the follower closes; `gaveUp` is called after `unprovable`. */
export function createWatch(
  watch: FollowerOptions['watch'],
  closing: AbortSignal,
  gaveUp: () => void,
): Watch {
  let call: Call | undefined
  const isAbout = (headerHash: Uint8Array | undefined): boolean =>
    call !== undefined && headerHash !== undefined && equalBytes(call.headerHash, headerHash)
  return {
    begin(block) {
      // Found again, because its evidence or its status could not be kept.
      if (watch === undefined || isAbout(block.headerHash)) return
      const controller = childOf(closing)
      const ended = watch(block, controller.signal)
      const begun: Call = {
        headerHash: block.headerHash,
        async end() {
          controller.end()
          await ended.catch(() => undefined)
        },
        isUnprovable: false,
      }
      call = begun
      ended.then(
        (result) => {
          begun.isUnprovable = result === 'unprovable'
          if (begun.isUnprovable) gaveUp()
        },
        // It is awaited later.
        () => undefined,
      )
    },

    stateOf: (headerHash) => (isAbout(headerHash) ? (call?.isUnprovable ? 'unprovable' : 'runs') : undefined),

    async keepOnly(headerHash) {
      if (call === undefined || isAbout(headerHash)) return
      await call.end()
      call = undefined
    },
  }
}
