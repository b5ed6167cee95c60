import { setTimeout as pause } from 'node:timers/promises'
import {
  type ArchivedBlock,
  type BlockError,
  decodeHeader,
  headerHash,
  type NewArchivedBlock,
} from '@ratatosk/block'
import { BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import { catchUp, type PassedBlock } from './catch-up.js'
import { childOf } from './child-controller.js'
import { FollowerError } from './errors.js'
import { createHeaderPaths, type HeaderPath } from './header-path.js'
import { openLedgerState } from './ledger-state.js'
import { createPeers, type Peers } from './peers.js'
import type { Follower, FollowerOptions, FollowerStatus, InvalidBlockStatus } from './types.js'
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
  const { chain, archive, genesis, rules, log, evidence, pollMs = 5_000, concurrency = 4 } = options
  const mayCredit = rules.bridge !== undefined
  const peers = createPeers(options.peers, { ...options, mayCredit }, log, options.own)
  const paths = createHeaderPaths(archive, peers)
  const closing = new AbortController()
  const { signal } = closing
  const state = await openLedgerState({ archive, genesis, rules, dir: options.trieDir, log })
  const watch = createWatch(options.watch, signal, () => wake.abort())
  const askBehind = createAskBehind(peers, options.unavailable)

  let height = 0n
  let marked = 0n
  let target: bigint | undefined
  let syncedAt: Date | undefined
  /** When layer 1 was read last, on the clock of `performance.now()`. */
  let readAt = 0
  let trouble: string | undefined
  /** The invalid blocks that layer 1 shows, the oldest first. */
  let invalid: readonly InvalidBlockStatus[] = []
  let invalidBlocks = 0
  const passed: PassedBlock[] = []
  /** An unprovable block that cannot be passed either: it does not lead to its header's root. */
  let impassable: Uint8Array | undefined
  let waiting: Waiter[] = []
  let wake = childOf(signal)

  /** Logs a new problem once, and the recovery from it. */
  function report(problem: string | undefined, error?: unknown): void {
    const fields = { height: Number(height), ...(error === undefined ? {} : { err: error }) }
    if (problem === undefined) {
      if (trouble !== undefined) log.info(fields, 'Following layer 1 again')
    } else if (problem !== trouble) {
      if (error === undefined) log.warn(fields, problem)
      else log.error(fields, problem)
    }
    trouble = problem
  }

  /** Counts and logs an invalid block, and keeps its evidence, once. */
  async function reportInvalid(block: NewArchivedBlock, error: BlockError): Promise<void> {
    const { headerHash } = block
    const known = knownInvalid(headerHash)
    if (known) {
      trouble = troubleOf(known)
      return
    }
    const { message: reason, position, reference, failures } = error
    const report = await evidence?.keep(block, error).catch((err: unknown) => {
      log.error({ err, headerHash: toHex(headerHash) }, 'The evidence of an invalid block cannot be kept')
      return undefined
    })
    const found = {
      headerHash,
      height: block.height,
      reason,
      ...(position !== undefined && { position }),
      ...(report !== undefined && { evidence: report }),
      foundAt: new Date(),
    }
    invalid = [...invalid, found]
    invalidBlocks++
    const hash = toHex(headerHash)
    log.error(
      {
        height: Number(block.height),
        headerHash: hash,
        reason,
        position,
        reference,
        failures,
        evidence: report,
        invalidBlocks,
      },
      'Invalid block',
    )
    trouble = troubleOf(found)
  }

  const knownInvalid = (hash: Uint8Array): InvalidBlockStatus | undefined =>
    invalid.find(({ headerHash }) => equalBytes(headerHash, hash))

  /** Removes blocks that layer 1 no longer has, the newest first. A merged block is final. */
  async function removeLost(
    { fork }: HeaderPath,
    tip: ArchivedBlock | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const from = (fork?.height ?? 0n) + 1n
    if (tip === undefined || tip.height < from) return
    if ((await archive.byHeight(from))?.merged)
      throw new FollowerError(
        'FOLLOWER_MERGED_BLOCK_LOST',
        `Layer 1 lacks block ${from}, which was merged; if that is permanent, start with an empty archive`,
      )
    await archive.removeFrom(from)
    await state.align(signal)
    log.warn({ from: Number(from), to: Number(tip.height) }, 'Removed blocks that layer 1 no longer has')
  }

  /** Moves to the state after the passed blocks, or after the archive where that is not kept. */
  async function alignPassed(signal: AbortSignal): Promise<void> {
    if (!(await state.align(signal, passed.at(-1)?.root))) passed.length = 0
  }

  /**
   * Drops passed blocks in whose place layer 1 shows others.
   *
   * @returns hash of the first block that is neither archived nor passed
   */
  async function dropPassed({ missing }: HeaderPath): Promise<Uint8Array | undefined> {
    const shared = passed.findIndex(({ headerHash }, place) => {
      const shown = missing[place]
      return !shown || !equalBytes(shown.headerHash, headerHash)
    })
    // A queue that only lacks the newest may be an older one. Without the first, nothing else is there.
    const kept = shared < 0 || (shared > 0 && shared === missing.length) ? passed.length : shared
    await watch.keepOnly(missing[kept]?.headerHash)
    passed.length = kept
    return missing[passed.length]?.headerHash
  }

  /** Whether a block is in the state queue now, neither merged nor removed. */
  async function isWaiting(wanted: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const { blocks } = await chain.read(signal)
    return blocks.some((header) => equalBytes(headerHash(header), wanted))
  }

  /** Reads layer 1 once and brings the archive up to date. */
  async function follow(signal: AbortSignal): Promise<void> {
    const shown = await chain.read(signal)
    readAt = performance.now()
    const path = await paths.find(shown, signal)
    if (!path) return report('No peer has a header that leads to the newest block')
    const next = await dropPassed(path)
    const tip = await archive.tip()
    await removeLost(path, tip, signal)
    if (path.mergedHeight > marked) await archive.markMerged(path.mergedHeight)
    marked = path.mergedHeight
    height = path.fork?.height ?? 0n
    target = height + BigInt(path.missing.length)
    invalid = invalid.filter((each) =>
      path.missing.some(({ headerHash }) => equalBytes(headerHash, each.headerHash)),
    )
    const judged = next && watch.stateOf(next)
    const isUnprovable = judged === 'unprovable' && !(impassable && next && equalBytes(impassable, next))
    // Nothing behind it can be judged.
    const known = next && knownInvalid(next)
    if (judged === 'runs' || (known && !isUnprovable && (judged || !options.watch))) {
      if (known) trouble = troubleOf(known)
      return
    }
    const unprovable = isUnprovable ? next : undefined
    // Behind the watch, which reads the state.
    await alignPassed(signal)
    const archived = (reached: bigint) => {
      height = reached
    }
    const { unavailable, events } = options
    const means = {
      archive,
      state,
      peers,
      evidence,
      unavailable,
      rules,
      events,
      isWaiting,
      concurrency,
      passed,
      unprovable,
      log,
      archived,
    }
    const result = await catchUp(path, means, signal)
    if (result.kind === 'invalid') {
      const { block, body, error } = result
      const { headerHash, height } = block
      if (unprovable && equalBytes(headerHash, unprovable)) impassable = unprovable
      // A proof needs the states before and after the block; a follower that proves nothing spares the work.
      if (options.watch !== undefined) {
        const header = decodeHeader(block.header)
        const { transactions, deposits = [] } = body
        const accused = await state.accuse(body)
        const { bridge } = rules
        watch.begin({ headerHash, height, header, transactions, deposits, bridge, error, ...accused })
      }
      return reportInvalid(block, error)
    }
    if (result.kind === 'unread') return report(`The deposits of block ${result.height} are not read yet`)
    // The next read of layer 1 shows where it is now.
    if (result.kind === 'moved') return report(`Block ${result.height} has left the state queue`)
    if (result.kind === 'missing') {
      report(`No peer has the body of block ${result.height}`)
      return askBehind(path, result.height, signal)
    }
    if (passed.length > 0) {
      if (invalid[0]) trouble = troubleOf(invalid[0])
      return
    }
    paths.forget()
    syncedAt = new Date()
    report(undefined)
  }

  async function round(): Promise<void> {
    // Calls of `synced` from here on wait for the next read.
    const answered = waiting
    waiting = []
    const before = syncedAt
    const read = childOf(signal)
    try {
      await follow(read.signal)
    } catch (error) {
      if (!signal.aborted) report(error instanceof Error ? error.message : String(error), error)
    } finally {
      read.end()
    }
    if (syncedAt === before) waiting = [...answered, ...waiting]
    else for (const { resolve } of answered) resolve()
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = childOf(signal)
      const begun = performance.now()
      await round()
      const rest =
        trouble === undefined
          ? Math.max(readAt + pollMs - performance.now(), 0)
          : Math.min(pollMs, Math.max(peers.nextReturn(begun), 50))
      await pause(rest, undefined, { signal: wake.signal }).catch(() => undefined)
      wake.end()
    }
  }

  try {
    await state.align(signal)
    height = (await archive.tip())?.height ?? 0n
  } catch (error) {
    await state.close()
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
      ...(invalid[0] && { invalid: invalid[0] }),
      invalidBlocks,
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
      closed ??= running.then(async () => {
        await watch.keepOnly(undefined)
        for (const { reject } of waiting.splice(0)) reject(signal.reason)
        peers.close()
        return state.close()
      })
      return closed
    },
  }
}

const troubleOf = ({ height, headerHash, reason }: InvalidBlockStatus): string =>
  `Block ${height} (${toHex(headerHash)}) is invalid: ${reason}`

/** Milliseconds after which a body that a peer has served, or was slow to serve, is asked for again. */
const [servedForMs, slowForMs] = [600_000, 60_000]
/** Milliseconds for one body, and for all between two reads of layer 1: the first block must not wait. */
const [bodyMs, roundMs] = [5_000, 30_000]

/** Asks peers for the bodies behind an unavailable block; an operator may withhold many. */
function createAskBehind(peers: Peers, unavailable: FollowerOptions['unavailable']) {
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
