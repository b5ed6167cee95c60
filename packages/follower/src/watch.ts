import { equalBytes } from '@ratatosk/cbor'
import { childOf } from './child-controller.js'
import type { FollowerOptions, InvalidBlock } from './types.js'

/** The call of {@link FollowerOptions.watch} that runs, if one does. */
interface Watch {
  begin(block: InvalidBlock): void
  /** Whether a call is running, or there is nothing to call. */
  isBegun(): boolean
  /** Ends the call unless it is about this block; resolves when it has ended. */
  keepOnly(headerHash: Uint8Array | undefined): Promise<void>
}

/** @param closing aborts when the follower closes */
export function createWatch(watch: FollowerOptions['watch'], closing: AbortSignal): Watch {
  let running: { readonly headerHash: Uint8Array; readonly end: () => Promise<void> } | undefined
  return {
    begin(block) {
      if (watch === undefined) return
      // Found again, because its evidence or its status could not be kept.
      if (running !== undefined && equalBytes(running.headerHash, block.headerHash)) return
      const controller = childOf(closing)
      const ended = watch(block, controller.signal)
      // It is awaited later.
      ended.catch(() => undefined)
      const end = (): Promise<void> => {
        controller.end()
        return ended
      }
      running = { headerHash: block.headerHash, end }
    },

    isBegun: () => watch === undefined || running !== undefined,

    async keepOnly(headerHash) {
      if (running === undefined) return
      if (headerHash !== undefined && equalBytes(running.headerHash, headerHash)) return
      await running.end()
      running = undefined
    },
  }
}
