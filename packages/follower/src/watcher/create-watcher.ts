import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeHeader } from '@ratatosk/block'
import { BytesMap, BytesSet, equalBytes } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import { type StateQueue, soundRoot, unreadLine } from '@ratatosk/protocol'
import type { HeldLease, VerdictRecord } from '@ratatosk/store'
import { emptyRoot } from '@ratatosk/trie'
import { conclude, settleValid } from './conclude.js'
import type { Job, Lack, Missing, WatcherContext } from './context.js'
import { pruneBehindRemoved } from './prune.js'
import { createQuestionBook } from './question-book.js'
import { readOpenQuestions } from './questions.js'
import { readQueue } from './read-layer1.js'
import { advanceRemoval } from './remove.js'
import { follow, removalsOf } from './send.js'
import { createSummonsLine, summonChunk, verdictAbout } from './summon.js'
import { sweepBonds } from './sweep.js'
import type { DisputedBlock, Watcher, WatcherOptions } from './types.js'
import { advanceUnavailable } from './unavailable.js'

/** Lovelace that the datums of the longest proof lock, with collateral and fees. */
const leastLovelace = 350_000_000n
/** Milliseconds between two reads of the balance, while nothing is lacking. */
const balanceEveryMs = 60_000
/** Polls between two attempts that lack ada. */
const retryPolls = 10
/** Polls between two attempts of which one has failed, and between two reads at one tip without work. */
const [attemptPolls, quietPolls] = [3, 5]
/** The longest time between two reads of layer 1 by a follower that still lacks a body, in milliseconds. */
const wantedForMs = 120_000
/** The longest lag of a provider's answers behind its tip: milliseconds, and share of the maturity window. */
const [maxLagMs, shareForLag] = [120_000, 30n]
/** Share of the maturity window in which peers may be without a body. */
const shareOfWindow = 10n
/** Milliseconds of layer 1 after which a block that is too old to be asked for is a new trouble. */
const longestCalmMs = 600_000n
/** Polls after which a transaction is sent again, and how often in its validity at least. */
const [resendPolls, leastSendings] = [20, 20]

/**
 * Removes the invalid blocks that a follower finds: records each finding, searches a fraud proof, and sends
 * the transactions that remove the block and slash its operator. Asks operators on layer 1 for what they
 * hide: bodies, and maps of false roots. Each is stored before it is sent, and looked up before it is sent
 * again. Prunes the blocks behind a removed one.
 *
 * @example
 * const watcher = createWatcher({
 *   contracts, rules, layer1, wallet, verdicts: store.verdicts, archive: store.archive, evaluator, log
 * })
 * const { watch, unavailable } = watcher
 * const follower = await createFollower({ ...options, watch, unavailable })
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { layer1, wallet, contracts, verdicts, log, observer } = options
  const { pollMs = 1000, validityMs = 300_000 } = options
  const { maturityWindow } = contracts.parameters
  const closing = new AbortController()
  const { signal } = closing
  let wake = new AbortController()
  let job: Job | undefined
  /** By header hash. */
  const missing = new BytesMap<Missing>()
  let [unprovable, unavailable]: (DisputedBlock | undefined)[] = []
  let lack: Lack | undefined
  let unread: string | undefined
  /** When a block was found too late for the last time, in layer 1's POSIX milliseconds. */
  let lateAt: bigint | undefined
  let trouble: string | undefined
  /** The last failure in this tick that has not ended it. */
  let failure: unknown
  let [troubleAt, retryAt, balanceAt] = [0, 0, 0]
  let isPruning = true
  let quiet = { tip: '', until: 0 }
  let confirmedUntil = 0n
  const line = createSummonsLine()
  const turn = openTurn(options)
  let waits: string | undefined
  /** Whether the last read of layer 1 was for a summons: they take turns with the other work. */
  let hasSummoned = false
  const counts = { asked: 0, answered: 0, unanswered: 0 }

  const delayMs = retryPolls * pollMs
  const context: WatcherContext = {
    ...options,
    validityMs,
    patience: options.patienceMs === undefined ? maturityWindow / shareOfWindow : BigInt(options.patienceMs),
    resendMs: Math.min(resendPolls * pollMs, validityMs / leastSendings),
    signal,
    refusedMs: attemptPolls * pollMs,
    sendings: new BytesMap(),
    included: new BytesSet(),
    dead: new BytesSet(),
    lagMs: Math.min(maxLagMs, Number(maturityWindow / shareForLag)),
    isUndecided: ({ header }) => decodeHeader(header).endTime > confirmedUntil,
    doesNotRead(outputs) {
      const line = unreadLine(outputs)
      if (line !== undefined && line !== unread) log.error({ code: 'SUMMONS_UNREAD' }, line)
      unread = line
    },
    asksTooLate(block, now) {
      const calm = maturityWindow < longestCalmMs ? maturityWindow : longestCalmMs
      if (lateAt === undefined || now > lateAt + calm)
        log.error(
          { code: 'WATCHER_TOO_LATE', ...block },
          "A block without a body is too old to be asked for. Check that its operator's archivist is up: " +
            'once a peer serves the body, the block is judged by it; until then, build on no later block. ' +
            'Those that follow are in GET /verdicts, and not logged',
        )
      lateAt = now
    },
    lacks(found) {
      if (found === undefined) {
        if (lack !== undefined) log.info({ was: lack.reason }, 'The watcher can pay again')
      } else if (found.code !== lack?.code) {
        log.error({ code: found.code }, `The watcher cannot pay: ${found.reason}`)
      }
      lack = found
    },
    fails(error) {
      failure ??= error
    },
    retryLater() {
      retryAt = performance.now() + context.refusedMs
    },
    step(name) {
      // The bond of a question has come back.
      if (name === 'answered' || name === 'removed') balanceAt = 0
      if (name === 'question-recorded') counts.asked++
      if (name === 'answered' || name === 'unanswered') counts[name]++
      observer?.step(name)
    },
  }

  /** Reads the balance now and then, so that a lack is known before ada is needed. */
  async function checkBalance(slot: bigint): Promise<void> {
    if (performance.now() < balanceAt) return
    if ((await wallet.spendable({}, { signal })) < leastLovelace) {
      const reason = `The wallet has less than ${leastLovelace} lovelace: send ada to ${wallet.address}`
      context.lacks({ code: 'WATCHER_LACKS_FUNDS', reason })
    } else if (job === undefined && missing.size === 0) context.lacks(undefined)
    // It reports what it does not read, also while nothing is disputed.
    await readOpenQuestions(context)
    const isSweeping = contracts.summons !== undefined && (await sweepBonds(context, slot))
    balanceAt = performance.now() + (lack === undefined && !isSweeping ? balanceEveryMs : delayMs)
  }

  /** Does something for each. A failure for one of them delays no other. */
  async function forEach<Item>(items: Iterable<Item>, run: (item: Item) => Promise<void>): Promise<void> {
    let failure: unknown
    for (const item of items)
      await run(item).catch((error: unknown) => {
        failure ??= error
      })
    if (failure !== undefined) throw failure
  }

  /** @returns whether it has tried everything: after a failure, some of it waits */
  async function tick(): Promise<boolean> {
    waits = await turn.obstacle()
    if (waits !== undefined) {
      line.refuse(waits)
      return true
    }
    // The tip first, so that everything else is at least as new.
    const { slot, hash } = await layer1.tip({ signal })
    const mayRest = job === undefined && missing.size === 0 && line.isEmpty()
    if (mayRest && quiet.tip === hash && performance.now() < Math.min(quiet.until, balanceAt)) return true
    const queue = await readQueue(context)
    confirmedUntil = soundRoot(queue).datum.state.endTime
    const shown = new BytesSet(queue.blocks.map(({ headerHash }) => headerHash))
    const open = await settleValid(context, await verdicts.open(), missing)
    const isShown = ({ headerHash }: VerdictRecord) => shown.has(headerHash)
    const inQueue = open.filter(isShown)
    const isStuck = ({ state, headerHash }: VerdictRecord) =>
      state === 'unprovable' || missing.get(headerHash)?.reported !== undefined
    unprovable = inQueue.find(isStuck)
    unavailable = inQueue.find(({ state }) => state === 'unavailable')
    for (const name of missing.keys()) if (!shown.has(name)) missing.delete(name)
    const knownOf = ({ block }: Job | Missing) => verdictAbout(inQueue, block.headerHash)
    let questions: ReturnType<typeof readOpenQuestions> | undefined
    const questionsAbout = async ({ block }: Job | Missing) => {
      questions ??= readOpenQuestions(context)
      return (await questions).get(block.headerHash) ?? []
    }
    const waiting = hasSummoned ? undefined : line.next()
    hasSummoned = waiting !== undefined
    // The verdicts have to be read again after it.
    if (waiting !== undefined) {
      const { headerHash } = waiting.summon
      const known = verdictAbout(inQueue, headerHash)
      const asked = { queue, missing: missing.get(headerHash), known, questions: questionsAbout }
      const result = summonChunk(context, waiting.summon, asked, slot)
      const unsent = () => `Not sent: ${lack?.reason ?? 'layer 1 has refused the question'}`
      waiting.resolve(result.then((sent) => sent ?? { kind: 'refused', reason: unsent() }))
      await result.catch(() => undefined)
      wake.abort()
      return false
    }
    const [current, before] = [job, lack]
    const isWhole = performance.now() >= retryAt || current?.isRecorded === false
    if (isWhole) {
      if (current === undefined) {
        await resume(inQueue, queue, slot)
        const now = performance.now()
        const wanted = [...missing.values()]
          .filter(({ wantedAt }) => now - wantedAt < wantedForMs)
          // The funds go to the block that is mature first.
          .sort((a, b) => Number(a.block.header.endTime - b.block.header.endTime))
        await forEach(wanted, async (each) =>
          advanceUnavailable(context, each, queue, knownOf(each), await questionsAbout(each), slot),
        )
      } else {
        const own = () => questionsAbout(current)
        await advanceRemoval(context, current, queue, knownOf(current), own, slot)
      }
    } else {
      // Recorded work does not wait.
      await followRemovals(inQueue, slot)
    }
    // Layer 1 has decided about the others: they can wait.
    const isDue = performance.now() >= balanceAt
    const gone = open.filter((verdict) => !isShown(verdict) && (isDue || context.isUndecided(verdict)))
    await forEach(gone, (verdict) => conclude(context, verdict, queue))
    await checkBalance(slot)
    if (lack !== undefined && lack !== before) retryAt = performance.now() + delayMs
    const isQuiet = mayRest && isWhole && open.length === 0 && lack === undefined && !isPruning
    quiet = { tip: isQuiet ? hash : '', until: performance.now() + quietPolls * pollMs }
    return isWhole
  }

  const followRemovals = (recorded: readonly VerdictRecord[], slot: bigint) =>
    forEach(recorded, async (verdict) => {
      await follow(context, removalsOf(verdict), slot)
    })

  /** Goes on with what was recorded for blocks whose bodies no follower has yet, and prunes. */
  async function resume(inQueue: readonly VerdictRecord[], queue: StateQueue, slot: bigint): Promise<void> {
    await followRemovals(inQueue, slot)
    isPruning = await pruneBehindRemoved(context, queue, slot, isPruning)
  }

  /** Logs a new problem once. */
  function report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (reason !== trouble) log.warn({ err: error }, `The watcher waits: ${reason}`)
    if (trouble === undefined) troubleAt = performance.now()
    trouble = reason
  }

  let ticking: Promise<void> = Promise.resolve()
  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = new AbortController()
      failure = undefined
      ticking = tick().then(
        (isWhole) => {
          if (failure !== undefined) report(failure)
          else if (isWhole) trouble = undefined
        },
        (error: unknown) => {
          line.fail(error)
          if (signal.aborted) return
          report(error)
          // A search is expensive.
          if (!isLayer1Error(error)) retryAt = performance.now() + delayMs
        },
      )
      await ticking
      await pause(line.isEmpty() ? pollMs : 0, undefined, { signal: wake.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    async watch(block, ended) {
      const book = missing.get(block.headerHash)?.book ?? createQuestionBook()
      let giveUp = (): void => undefined
      const givenUp = new Promise<'unprovable'>((resolve) => {
        giveUp = () => resolve('unprovable')
      })
      const gone = new Promise<undefined>((resolve) => {
        ended.addEventListener('abort', () => resolve(undefined), { once: true })
        if (ended.aborted) resolve(undefined)
      })
      missing.delete(block.headerHash)
      const given: Job = { block, book, signal: ended, isRecorded: false, failures: 0, giveUp }
      job = given
      wake.abort()
      const result = await Promise.race([givenUp, gone])
      if (job === given) job = undefined
      await ticking
      return result
    },

    async unavailable(block) {
      const { header, headerHash } = block
      if (equalBytes(header.transactionsRoot, emptyRoot())) return []
      if (contracts.summons === undefined) return undefined
      const book = createQuestionBook()
      const known = missing.get(headerHash) ?? { block, book, wantedAt: 0, isRecorded: false }
      known.wantedAt = performance.now()
      missing.set(headerHash, known)
      return known.transactions
    },

    status: () => ({
      ...(unprovable && { unprovable: fieldsOf(unprovable) }),
      ...(unavailable && { unavailable: fieldsOf(unavailable) }),
      ...(waits !== undefined && { waits }),
      ...(lack && { lack: lack.reason }),
      ...(unread !== undefined && { unread }),
      ...(trouble !== undefined && { trouble, troubleMs: performance.now() - troubleAt }),
    }),

    summon(wanted, client) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const result = line.add(wanted, client)
      wake.abort()
      return result
    },

    questions: () => ({ ...counts }),

    close() {
      closing.abort(new Error('The watcher is closed'))
      wake.abort()
      return running.finally(() => line.fail(signal.reason)).finally(turn.release)
    },
  }
}

function fieldsOf({ headerHash, height, reason }: DisputedBlock): DisputedBlock {
  return { headerHash, height, reason }
}

/** The turn of one of the processes that share a store and a wallet. */
interface Turn {
  /** Takes the turn, or keeps it. @returns why this process may not use the wallet; undefined if it may */
  obstacle(): Promise<string | undefined>
  release(): Promise<void>
}

/** Without a lease, this process is the only one. */
function openTurn({ lease, log }: Pick<WatcherOptions, 'lease' | 'log'>): Turn {
  const holder = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`
  let held: HeldLease | undefined
  let reason: string | undefined
  return {
    async obstacle() {
      if (lease === undefined || held?.lost.aborted === false) return undefined
      const { leases, ttlMs } = lease
      held = await leases.hold('watcher', holder, ttlMs)
      const other = held === undefined ? await leases.current('watcher') : undefined
      const was = reason
      reason =
        held === undefined ? `Another process of this store watches: ${other?.holder ?? ''}` : undefined
      if (reason !== undefined && was === undefined) log.info({ holder: other?.holder }, reason)
      if (reason === undefined && was !== undefined) log.info({ holder }, 'This process watches now')
      return reason
    },
    release: async () => held?.release(),
  }
}
