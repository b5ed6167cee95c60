import { setTimeout as pause } from 'node:timers/promises'
import type { ArchivedBlock } from '../archive.js'
import { catchUp } from './catch-up.js'
import { childOf } from './child-controller.js'
import { createHeaderPaths, type HeaderPath } from './header-path.js'
import { openOutputTrie } from './output-trie.js'
import { createPeers } from './peers.js'
import type { Follower, FollowerOptions, FollowerStatus } from './types.js'

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Follows layer 1's state queue: learns headers from it and older ones and bodies from peers, and archives what it can check.
 * Resolves when the trie of unspent outputs agrees with the archive, which may take a while where it has to be built anew.
 *
 * @throws TypeError where the options cannot work; whatever the archive or the trie's folder throw
 * @example
 * const follower = await createFollower({ chain, peers, archive: store.archive, genesis, trieDir, log })
 * await follower.synced()
 * await follower.close()
 */
export async function createFollower(options: FollowerOptions): Promise<Follower> {
  const { chain, archive, genesis, log, pollMs = 5_000, concurrency = 4 } = options
  const { stallMs = 10_000, backoffMs = 1_000, maxBodyBytes = 128 * 1024 * 1024 } = options
  const peers = createPeers(options.peers, { stallMs, backoffMs, maxBodyBytes }, log)
  const paths = createHeaderPaths(archive, peers)
  const closing = new AbortController()
  const { signal } = closing
  const trie = await openOutputTrie({ archive, genesis, dir: options.trieDir, log })

  let height = 0n
  let marked = 0n
  let target: bigint | undefined
  let syncedAt: Date | undefined
  let trouble: string | undefined
  let waiting: Waiter[] = []
  let wake = childOf(signal)

  /** Logs what keeps it from getting on, once, and that it gets on again. */
  function tell(problem: string | undefined, error?: unknown): void {
    const fields = { height: Number(height), ...(error === undefined ? {} : { err: error }) }
    if (problem === undefined) {
      if (trouble !== undefined) log.info(fields, 'Follows layer 1 again')
    } else if (problem !== trouble) {
      if (error === undefined) log.warn(fields, problem)
      else log.error(fields, problem)
    }
    trouble = problem
  }

  /** What layer 1 no longer has goes, the newest first; what was merged stays, whatever layer 1 shows. */
  async function takeOut(
    { fork }: HeaderPath,
    tip: ArchivedBlock | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const from = (fork?.height ?? 0n) + 1n
    if (tip === undefined || tip.height < from) return
    if ((await archive.byHeight(from))?.merged)
      throw new Error(
        `Layer 1 shows a history without block ${from}, which was merged; where that is for good, begin with an empty archive`,
      )
    await archive.removeFrom(from)
    await trie.align(signal)
    log.warn({ from: Number(from), to: Number(tip.height) }, 'Took blocks out that layer 1 has removed')
  }

  /** One look at layer 1 and all that follows from it. */
  async function follow(signal: AbortSignal): Promise<void> {
    await trie.align(signal)
    const state = await chain.read(signal)
    const path = await paths.find(state, signal)
    if (!path) return tell('No peer has a header that leads to the newest block')
    const tip = await archive.tip()
    await takeOut(path, tip, signal)
    if (path.mergedHeight > marked) await archive.markMerged(path.mergedHeight)
    marked = path.mergedHeight
    height = path.fork?.height ?? 0n
    target = height + BigInt(path.missing.length)
    const archived = (reached: bigint) => {
      height = reached
    }
    const lacking = await catchUp(path, { archive, trie, peers, concurrency, log, archived }, signal)
    if (lacking !== undefined) return tell(`No peer has the body of block ${lacking}`)
    paths.forget()
    syncedAt = new Date()
    tell(undefined)
  }

  async function round(): Promise<void> {
    // Those who wait from now on want a look that begins later.
    const answered = waiting
    waiting = []
    const before = syncedAt
    const look = childOf(signal)
    try {
      await follow(look.signal)
    } catch (error) {
      if (!signal.aborted) tell(error instanceof Error ? error.message : String(error), error)
    } finally {
      look.end()
    }
    if (syncedAt === before) waiting = [...answered, ...waiting]
    else for (const { resolve } of answered) resolve()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = childOf(signal)
      await round()
      const rest = trouble === undefined ? pollMs : Math.min(pollMs, Math.max(peers.nextReturn(), 50))
      await pause(rest, undefined, { signal: wake.signal }).catch(() => undefined)
      wake.end()
    }
  }

  try {
    await trie.align(signal)
    height = (await archive.tip())?.height ?? 0n
  } catch (error) {
    await trie.close()
    throw error
  }
  const running = run()
  let closed: Promise<void> | undefined

  return {
    status: (): FollowerStatus => ({
      height,
      ...(target === undefined ? {} : { target }),
      ...(syncedAt === undefined ? {} : { syncedAt }),
      ...(trouble === undefined ? {} : { trouble }),
    }),

    synced() {
      wake.abort()
      return new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason)
        else waiting.push({ resolve, reject })
      })
    },

    close() {
      closing.abort(new Error('The follower is closed'))
      closed ??= running.then(() => {
        for (const { reject } of waiting.splice(0)) reject(signal.reason)
        peers.close()
        return trie.close()
      })
      return closed
    },
  }
}
