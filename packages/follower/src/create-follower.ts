import { setTimeout as pause } from 'node:timers/promises'
import {
  type ArchivedBlock,
  type BlockBody,
  type BlockError,
  decodeHeader,
  headerHash,
  type NewArchivedBlock,
} from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { isLayer1Error, type Layer1ErrorCode } from '@ratatosk/layer1'
import { catchUp, type PassedBlock } from './catch-up.js'
import { createAskBehind, createWatch } from './disputes.js'
import { FollowerError } from './errors.js'
import { createHeaderPaths, type HeaderPath, type HeaderPaths } from './header-path.js'
import { type LedgerState, openLedgerState } from './ledger-state.js'
import { childOf } from './peer-request.js'
import { createPeers, type Peers } from './peers.js'
import type { Follower, FollowerOptions, FollowerStatus, InvalidBlockStatus } from './types.js'

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
 * const archive = store.archive
 * const follower = await createFollower({ chain, peers, archive, genesis, rules, trieDir, log })
 * await follower.synced()
 * await follower.close()
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
    askBehind: createAskBehind(peers, options),
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
  queued,
  syncedAt,
  trouble,
  invalid: [first],
  invalidBlocks,
}: FollowerState): FollowerStatus => ({
  height,
  ...(target === undefined ? {} : { target }),
  ...(queued === undefined ? {} : { queued }),
  ...(syncedAt === undefined ? {} : { syncedAt }),
  ...(trouble === undefined ? {} : { trouble }),
  ...(first && { invalid: first }),
  invalidBlocks,
})

/** All that a follower knows beside its archive and its ledger. */
interface FollowerState {
  /** Of the newest archived block. */
  height: bigint
  /** Up to this height, blocks are marked as merged. */
  marked: bigint
  /** Height of the newest block that layer 1 shows, while it is known. */
  target: bigint | undefined
  queued: number | undefined
  syncedAt: Date | undefined
  /** When layer 1 was read last, on the clock of `performance.now()`. */
  readAt: number
  trouble: string | undefined
  /** The invalid blocks that layer 1 shows, the oldest first. */
  invalid: readonly InvalidBlockStatus[]
  /** How many there were. */
  invalidBlocks: number
  /** The blocks behind an unprovable one. */
  readonly passed: PassedBlock[]
  /** An unprovable block that cannot be passed either: it does not lead to its header's root. */
  impassable: Uint8Array | undefined
}

const openState = (): FollowerState => ({
  height: 0n,
  marked: 0n,
  target: undefined,
  queued: undefined,
  syncedAt: undefined,
  readAt: 0,
  trouble: undefined,
  invalid: [],
  invalidBlocks: 0,
  passed: [],
  impassable: undefined,
})

/** A follower at work. */
interface Following {
  readonly options: FollowerOptions
  readonly state: FollowerState
  readonly ledger: LedgerState
  readonly peers: Peers
  readonly paths: HeaderPaths
  readonly watch: ReturnType<typeof createWatch>
  readonly askBehind: ReturnType<typeof createAskBehind>
}

/** Reads layer 1 once and brings the archive up to date. */
async function follow(following: Following, signal: AbortSignal): Promise<void> {
  const { options, state, paths, askBehind } = following
  const shown = await options.chain.read(signal)
  state.readAt = performance.now()
  state.queued = shown.blocks.length
  const path = await paths.find(shown, signal)
  if (!path) {
    state.target = undefined
    return report(following, 'No peer has a header that leads to the newest block')
  }
  const next = await dropPassed(following, path)
  await takePath(following, path, signal)
  const unprovable = toPass(following, next)
  if (unprovable === 'waits') return
  // Behind the watch, which reads the state.
  await alignPassed(following, signal)
  const result = await catchUp(path, meansOf(following, unprovable), signal)
  switch (result.kind) {
    case 'invalid':
      return accuse(following, result, unprovable)
    case 'unread':
      return report(following, `The deposits of block ${result.height} are not read yet`)
    // The next read of layer 1 shows where it is now.
    case 'moved':
      return report(following, `Block ${result.height} has left the state queue`)
    case 'missing':
      report(following, `No peer has the body of block ${result.height}`)
      return askBehind(path, result.height, signal)
  }
  if (state.passed.length > 0) {
    if (state.invalid[0]) state.trouble = troubleOf(state.invalid[0])
    return
  }
  paths.forget()
  state.syncedAt = new Date()
  report(following, undefined)
}

/** Failures of layer 1 that do not pass by themselves. */
const lasting: readonly Layer1ErrorCode[] = ['LAYER1_UNAUTHORIZED', 'LAYER1_WRONG_NETWORK']

/** Logs a new problem once, and the recovery from it. */
function report({ options: { log }, state }: Following, problem: string | undefined, error?: unknown) {
  const isPassing = isLayer1Error(error) && !lasting.includes(error.code)
  const cause = isPassing ? { code: error.code } : { err: error }
  const fields = { height: Number(state.height), ...(error === undefined ? {} : cause) }
  if (problem === undefined) {
    if (state.trouble !== undefined) log.info(fields, 'Following layer 1 again')
  } else if (problem !== state.trouble) {
    if (error === undefined || isPassing) log.warn(fields, problem)
    else log.error(fields, problem)
  }
  state.trouble = problem
}

/**
 * Drops passed blocks in whose place layer 1 shows others.
 *
 * @returns hash of the first block that is neither archived nor passed
 */
async function dropPassed(
  { state: { passed }, watch }: Following,
  { missing }: HeaderPath,
): Promise<Uint8Array | undefined> {
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

/** Makes the archive a part of what layer 1 shows. */
async function takePath(following: Following, path: HeaderPath, signal: AbortSignal): Promise<void> {
  const { options, state } = following
  const { archive } = options
  await removeLost(following, path, await archive.tip(), signal)
  if (path.mergedHeight > state.marked) await archive.markMerged(path.mergedHeight)
  state.marked = path.mergedHeight
  state.height = path.fork?.height ?? 0n
  state.target = state.height + BigInt(path.missing.length)
  state.invalid = state.invalid.filter((each) =>
    path.missing.some(({ headerHash }) => equalBytes(headerHash, each.headerHash)),
  )
}

/** Removes blocks that layer 1 no longer has, the newest first. A merged block is final. */
async function removeLost(
  { options: { archive, log }, ledger }: Following,
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
  await ledger.align(signal)
  log.warn({ from: Number(from), to: Number(tip.height) }, 'Removed blocks that layer 1 no longer has')
}

/**
 * The next block, if it is passed without being judged, because nothing removes it.
 *
 * @returns `waits` if nothing behind the next block can be judged
 */
function toPass(
  { options, state, watch }: Following,
  next: Uint8Array | undefined,
): Uint8Array | 'waits' | undefined {
  if (next === undefined) return undefined
  const { impassable } = state
  const judged = watch.stateOf(next)
  const isUnprovable = judged === 'unprovable' && !(impassable && equalBytes(impassable, next))
  const known = knownInvalid(state, next)
  if (judged === 'runs' || (known && !isUnprovable && (judged || !options.watch))) {
    if (known) state.trouble = troubleOf(known)
    return 'waits'
  }
  return isUnprovable ? next : undefined
}

/** Moves to the state after the passed blocks, or after the archive where that is not kept. */
async function alignPassed({ state: { passed }, ledger }: Following, signal: AbortSignal): Promise<void> {
  if (!(await ledger.align(signal, passed.at(-1)?.root))) passed.length = 0
}

function meansOf(
  { options, state, ledger, peers }: Following,
  unprovable: Uint8Array | undefined,
): Parameters<typeof catchUp>[1] {
  return {
    ...options,
    state: ledger,
    peers,
    passed: state.passed,
    unprovable,
    async isWaiting(wanted, signal) {
      const { blocks } = await options.chain.read(signal)
      return blocks.some((header) => equalBytes(headerHash(header), wanted))
    },
    archived(reached) {
      state.height = reached
    },
  }
}

interface InvalidResult {
  readonly block: NewArchivedBlock
  readonly body: BlockBody
  readonly error: BlockError
}

/** Gives an invalid block to the watch, if there is one, and reports it. */
async function accuse(
  following: Following,
  { block, body, error }: InvalidResult,
  unprovable: Uint8Array | undefined,
): Promise<void> {
  const { options, state, ledger, watch } = following
  const { headerHash, height } = block
  if (unprovable && equalBytes(headerHash, unprovable)) state.impassable = unprovable
  // A proof needs the states before and after the block; a follower that proves nothing spares the work.
  if (options.watch !== undefined) {
    const header = decodeHeader(block.header)
    const { transactions, deposits = [] } = body
    const accused = await ledger.accuse(body)
    const { bridge } = options.rules
    watch.begin({ headerHash, height, header, transactions, deposits, bridge, error, ...accused })
  }
  return reportInvalid(following, block, error)
}

/** Counts and logs an invalid block, and keeps its evidence, once. */
async function reportInvalid(
  { options: { evidence, log }, state }: Following,
  block: NewArchivedBlock,
  error: BlockError,
): Promise<void> {
  const { headerHash } = block
  const known = knownInvalid(state, headerHash)
  if (known) {
    state.trouble = troubleOf(known)
    return
  }
  const { message: reason, position, reference, failures } = error
  const hash = toHex(headerHash)
  const report = await evidence?.keep(block, error).catch((err: unknown) => {
    log.error({ err, headerHash: hash }, 'The evidence of an invalid block cannot be kept')
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
  state.invalid = [...state.invalid, found]
  const invalidBlocks = ++state.invalidBlocks
  const height = Number(block.height)
  const fields = { height, headerHash: hash, reason, position, reference, failures, evidence: report }
  log.error({ ...fields, invalidBlocks }, 'Invalid block')
  state.trouble = troubleOf(found)
}

const knownInvalid = ({ invalid }: FollowerState, hash: Uint8Array): InvalidBlockStatus | undefined =>
  invalid.find(({ headerHash }) => equalBytes(headerHash, hash))

const troubleOf = ({ height, headerHash, reason }: InvalidBlockStatus): string =>
  `Block ${height} (${toHex(headerHash)}) is invalid: ${reason}`
