import { setTimeout as pause } from 'node:timers/promises'
import { createAskBehind } from './ask-behind.js'
import { childOf } from './child-controller.js'
import { type FollowerState, type Following, follow, openState, report } from './follow.js'
import { createHeaderPaths } from './header-path.js'
import { openLedgerState } from './ledger-state.js'
import { createPeers } from './peers.js'
import type { Follower, FollowerOptions, FollowerStatus } from './types.js'
import { createWatch } from './watch.js'

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Follows the state queue on layer 1: reads headers from it, requests older headers and all bodies from
 * peers, and archives the valid blocks. Resolves when the unspent outputs match the archive; rebuilding them
 * may take minutes.
 *
 * @throws TypeError when `peers` is empty without `own`, or has an invalid URL
 * @throws {FollowerError} `FOLLOWER_ARCHIVE_MISMATCH`
 * @throws errors of the archive and of the folder of the unspent outputs, unchanged
 * @example
 * const follower = await createFollower({ chain, peers, archive: store.archive, genesis, rules, trieDir, log
 * }) await follower.synced() await follower.close()
 */
export async function createFollower(options: FollowerOptions): Promise<Follower> {
  const { archive, genesis, rules, log, pollMs = 5_000 } = options
  const peers = createPeers(
    options.peers,
    { ...options, mayCredit: rules.bridge !== undefined },
    log,
    options.own,
  )
  const closing = new AbortController()
  const { signal } = closing
  const ledger = await openLedgerState({ archive, genesis, rules, dir: options.trieDir, log })
  let wake = childOf(signal)
  const state = openState()
  const following: Following = {
    options,
    state,
    ledger,
    peers,
    paths: createHeaderPaths(archive, peers),
    watch: createWatch(options.watch, signal, () => wake.abort()),
    askBehind: createAskBehind(peers, options.unavailable),
  }
  let waiting: Waiter[] = []

  async function round(): Promise<void> {
    // Calls of `synced` from here on wait for the next read.
    const answered = waiting
    waiting = []
    const before = state.syncedAt
    const read = childOf(signal)
    try {
      await follow(following, read.signal)
    } catch (error) {
      if (!signal.aborted) report(following, error instanceof Error ? error.message : String(error), error)
    } finally {
      read.end()
    }
    if (state.syncedAt === before) waiting = [...answered, ...waiting]
    else for (const { resolve } of answered) resolve()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = childOf(signal)
      const begun = performance.now()
      await round()
      const rest =
        state.trouble === undefined
          ? Math.max(state.readAt + pollMs - performance.now(), 0)
          : Math.min(pollMs, Math.max(peers.nextReturn(begun), 50))
      await pause(rest, undefined, { signal: wake.signal }).catch(() => undefined)
      wake.end()
    }
  }

  try {
    await ledger.align(signal)
    state.height = (await archive.tip())?.height ?? 0n
  } catch (error) {
    await ledger.close()
    throw error
  }
  const running = run()
  let closed: Promise<void> | undefined

  return {
    status: () => statusOf(state),

    synced() {
      wake.abort()
      return new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason)
        else waiting.push({ resolve, reject })
      })
    },

    close() {
      closing.abort(new Error('The follower is closed'))
      closed ??= running.then(async () => {
        await following.watch.keepOnly(undefined)
        for (const { reject } of waiting.splice(0)) reject(signal.reason)
        peers.close()
        return ledger.close()
      })
      return closed
    },
  }
}

const statusOf = ({
  height,
  target,
  syncedAt,
  trouble,
  invalid: [first],
  invalidBlocks,
}: FollowerState): FollowerStatus => ({
  height,
  ...(target === undefined ? {} : { target }),
  ...(syncedAt === undefined ? {} : { syncedAt }),
  ...(trouble === undefined ? {} : { trouble }),
  ...(first && { invalid: first }),
  invalidBlocks,
})
