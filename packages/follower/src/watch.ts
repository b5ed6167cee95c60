import { equalBytes } from '@ratatosk/cbor'
import { childOf } from './child-controller.js'
import type { FollowerOptions, InvalidBlock } from './types.js'

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
