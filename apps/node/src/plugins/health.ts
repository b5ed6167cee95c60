import { setTimeout as sleep } from 'node:timers/promises'
import type { FollowerStatus } from '@ratatosk/follower'
import type { WatcherStatus } from '@ratatosk/follower/watcher'
import { type HealthOptions, ReadinessError } from '@ratatosk/health'
import { isLayer1Error, type Tip } from '@ratatosk/layer1'
import { type SlotConfig, slotToTime } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import { isQueueError } from '@ratatosk/queue'
import { overdueLine, type Questions, type SequencerSnapshot, unansweredLine } from '@ratatosk/sequencer'
import { isStoreError } from '@ratatosk/store'
import type { NodeFinding } from '../check/checks.js'
import { remedyOfLayer1 } from '../layer1/open-layer1.js'
import type { Node } from '../node.js'
import { watches } from '../roles.js'
import type { Following } from '../work/following.js'
import { queueEveryMs, shared } from './metric-kinds.js'

/** Milliseconds by which the clocks of two machines may differ. */
const clockToleranceMs = 60_000

export function healthOptions(node: Node): HealthOptions {
  const { store, replica, queue, submissions, settlement, sequencer, following, peers, index } = node
  const { settings, duties, clock, log } = node
  const isQueueInStore = settings.REDIS_URL === undefined
  const openedAt = clock()
  const oldestAt = shared(queueEveryMs, () => submissions.oldestAt())
  const waiting = duties.serves.includes('public') ? watchQueue(oldestAt, settings, clock, log) : undefined
  return {
    probes: {
      database: async (signal) => {
        if (replica !== undefined) await explained(replica.store.ping(signal), settings, 'DATABASE_READ_URL')
        // Elsewhere, what is read needs no primary: its lag grows, and after a while that is a fault.
        if (replica === undefined || settings.LAYER1_PROVIDER === 'devnet')
          await explained(store.ping(signal), settings)
        const fault = replica?.fault()
        if (fault !== undefined) throw new ReadinessError(fault)
      },
      queue: async (signal) => {
        // Its disk is that of the store.
        if (isQueueInStore) await explained(store.ping(signal), settings)
        await explained(queue.ping(signal), settings)
        await waiting?.look()
      },
      ...(settlement && {
        layer1: async (signal) => {
          const { reads, layer1, hostFault } = settlement
          const asked = Promise.all([reads.tip({ signal }), layer1.slots({ signal })])
          const [tip, slots] = await answered(asked, settings, hostFault)
          checkClock(tip, slots, clock())
          checkCommits(sequencer?.overdueMs)
          checkQuestions(sequencer?.questions, clock())
          checkQueue(sequencer?.snapshot().fault, sequencer?.faultMs)
        },
      }),
      ...(index && { index: async () => checkLag(index.lagMs(), settings.INDEX_MAX_LAG_MS) }),
      ...(following && {
        blocks: async () => {
          noInvalidBlock(following)
          if (duties.bodies === 'archive') await checkArchive(following.now()?.follower.status(), peers?.read)
        },
      }),
      ...(watches(settings) &&
        following && {
          watcher: async () => {
            const hasUsers = duties.serves.includes('public')
            checkWatching(following, hasUsers)
            if (!hasUsers) checkFollowing(following.now()?.follower.status(), clock(), openedAt)
          },
        }),
    },
    probeTimeoutMs: settings.HEALTH_PROBE_TIMEOUT_MS,
    counters: {
      ...(following && { invalidBlocks: () => invalidBlocksOf(following) }),
      ...(replica && { replicaLagMs: () => wholeMs(replica.lagMs()) }),
      ...(waiting && { oldestWaitingMs: waiting.longMs }),
      ...(peers && { silentPeers: peers.silent }),
    },
  }
}

/** 0 for a time that is not known: a counter is a number. */
const wholeMs = (ms: number): number => (Number.isFinite(ms) ? Math.ceil(ms) : 0)

/** Milliseconds after which it is reported that a submission waits. */
const longWaitMs = 60_000

/**
 * Reports when submissions wait for long: no process validates, or those that do use another queue. This
 * process stays ready, as it loses nothing that it accepts.
 */
export function watchQueue(
  oldestAt: Node['submissions']['oldestAt'],
  settings: Pick<Node['settings'], 'REDIS_URL' | 'QUEUE_PREFIX' | 'DATABASE_SCHEMA'>,
  clock: () => number,
  log: Pick<Log, 'warn'>,
) {
  let longMs = 0
  const place =
    settings.REDIS_URL === undefined
      ? `in PostgreSQL, with DATABASE_SCHEMA ${settings.DATABASE_SCHEMA}`
      : `in Redis, with QUEUE_PREFIX ${settings.QUEUE_PREFIX}`
  return {
    /** How long the oldest has waited, in milliseconds; 0 unless that is long. */
    longMs: () => longMs,
    async look(): Promise<void> {
      const oldest = await oldestAt()
      const ms = oldest === undefined ? 0 : clock() - oldest.getTime()
      const was = longMs
      longMs = ms > longWaitMs ? ms : 0
      if (was === 0 && longMs > 0)
        log.warn(
          { waitingMs: longMs },
          `A submission has waited ${Math.round(longMs / 1000)} s in the queue (${place}): does a ` +
            'tx-processor run, and with the same queue?',
        )
    },
  }
}

type Services = Pick<Node['settings'], 'DATABASE_URL' | 'REDIS_URL'>

/** Explains a full disk to clients, and who does not answer. */
async function explained(
  pinged: Promise<void>,
  settings: Services,
  name?: 'DATABASE_READ_URL',
): Promise<void> {
  try {
    await pinged
  } catch (cause) {
    const reason = fullDisk(cause) ?? outage(cause, settings, name)
    throw reason === undefined ? cause : new ReadinessError(reason, { cause })
  }
}

const servers = { DATABASE_URL: 'database', DATABASE_READ_URL: 'replica' } as const

/** The message for an error by which a service is unavailable, or is another one's. */
export function outage(
  error: unknown,
  { DATABASE_URL, REDIS_URL }: Services,
  database: keyof typeof servers = 'DATABASE_URL',
): string | undefined {
  const remedy = (service: string, name: string, url: string | undefined) =>
    url === undefined ? '' : `: start ${service}, or correct ${name}`
  if (isStoreError(error) && error.code === 'STORE_UNAVAILABLE')
    return `The ${servers[database]} does not answer${remedy('PostgreSQL', database, DATABASE_URL)}`
  if (!isQueueError(error)) return undefined
  if (error.code === 'QUEUE_LEDGER_CONFLICT') return error.message
  if (error.code !== 'QUEUE_UNAVAILABLE') return undefined
  return `The queue does not answer${remedy('Redis', 'REDIS_URL', REDIS_URL)}`
}

/** The message for an error that, or one of whose causes, is a full disk. */
export function fullDisk(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (isStoreError(error) && error.sqlState === '53100') return error.message
  // Redis refuses even a PING while it cannot save what it holds.
  if (/^MISCONF\b/.test(error.message)) return 'Redis cannot write to its disk (MISCONF): free some space'
  return fullDisk(error.cause)
}

/** The answer of layer 1. @throws {ReadinessError} for an error, or shortly before the probe ends */
export async function answered<T>(
  asked: Promise<T>,
  settings: Services & Pick<Node['settings'], 'HEALTH_PROBE_TIMEOUT_MS' | 'LAYER1_PROVIDER' | 'NETWORK'>,
  hostFault: () => string | undefined = () => undefined,
): Promise<T> {
  const done = new AbortController()
  const { signal } = done
  try {
    const late = sleep(0.9 * settings.HEALTH_PROBE_TIMEOUT_MS, undefined, { signal }).then(() => {
      throw new ReadinessError('Layer 1 does not answer in time')
    })
    return await Promise.race([asked, late])
  } catch (cause) {
    const reason = hostFault() ?? layer1Outage(cause, settings)
    throw reason === undefined ? cause : new ReadinessError(reason, { cause })
  } finally {
    done.abort()
  }
}

/** A devnet is in the database of the processes that share it. */
function layer1Outage(
  error: unknown,
  settings: Services & Pick<Node['settings'], 'LAYER1_PROVIDER' | 'NETWORK'>,
): string | undefined {
  if (!isLayer1Error(error)) return outage(error, settings)
  const isOfSettings = settings.LAYER1_PROVIDER !== 'devnet' && error.code === 'LAYER1_UNREACHABLE'
  return isOfSettings ? `${error.message}. ${remedyOfLayer1(error.code, settings)}` : error.message
}

/** @throws {ReadinessError} while layer 1's tip is in the future: no transaction would be included */
export function checkClock({ slot }: Pick<Tip, 'slot'>, slots: SlotConfig, now: number): void {
  const ahead = Number(slotToTime(slots, slot)) - now
  if (ahead <= clockToleranceMs) return
  throw new ReadinessError(
    `layer 1's tip is ${Math.round(ahead / 1000)} s ahead of this machine's clock: set the clock, or wait`,
  )
}

/** @throws {ReadinessError} if layer 1 has included no commit of this process for too long */
export function checkCommits(overdueMs: number | undefined): void {
  if (overdueMs !== undefined) throw new ReadinessError(overdueLine(overdueMs))
}

/** @throws {ReadinessError} while a question is not read, or one about an own block is without an answer */
export function checkQuestions(questions: Questions | undefined, now: number): void {
  const line = questions && unansweredLine(questions, now)
  if (line !== undefined) throw new ReadinessError(line)
}

const lasting: readonly string[] = [
  'SEQUENCER_FAILED',
  'SEQUENCER_INVALID_BLOCK',
  'SEQUENCER_NOT_REGISTERED',
  'SEQUENCER_BOND_LOCKED',
  'SEQUENCER_LAYER1_TOO_OLD',
  // No block can ever be committed: the settings are those of another deployment.
  'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
]

/** Milliseconds that a watcher, or the payment of blocks, may fail before its node is not ready. */
const troubleMs = 120_000

/**
 * @param faultMs for how long it has been the fault: a lack of ada may pass, as merges return ada, and a
 *   wallet withholds for two minutes what a roll-back of layer 1 returns
 * @throws {ReadinessError} if this process commits nothing of what waits until its operator acts
 */
export function checkQueue(fault: SequencerSnapshot['fault'] | undefined, faultMs = 0): void {
  if (!fault) return
  const isPoor = fault.code === 'SEQUENCER_INSUFFICIENT_FUNDS' && faultMs > troubleMs
  if (isPoor || lasting.includes(fault.code)) throw new ReadinessError(`${fault.code}: ${fault.message}`)
}

/**
 * @throws {ReadinessError} while an invalid block stays in the queue, a question is not read, or the watcher
 * cannot pay or work
 */
export function checkWatcher({ unprovable, unread, lack, trouble, troubleMs: ms = 0 }: WatcherStatus): void {
  if (unprovable !== undefined)
    throw new ReadinessError(`no fraud proof removes block ${unprovable.height}: ${unprovable.reason}`)
  if (unread !== undefined) throw new ReadinessError(unread)
  if (lack !== undefined) throw new ReadinessError(`the watcher cannot pay: ${lack}`)
  if (trouble !== undefined && ms > troubleMs) throw new ReadinessError(`the watcher fails: ${trouble}`)
}

/** @throws {ReadinessError} while blocks have not been followed for long: what is not read is not watched */
export function checkFollowing(
  status: Pick<FollowerStatus, 'syncedAt' | 'trouble' | 'invalid'> | undefined,
  now: number,
  openedAt: number,
): void {
  const { trouble, invalid, syncedAt } = status ?? {}
  if (trouble === undefined || invalid !== undefined) return
  if (now - (syncedAt?.getTime() ?? openedAt) > troubleMs)
    throw new ReadinessError(`the blocks are not followed: ${trouble}`)
}

/** @throws {ReadinessError} while an archivist has no block and can follow none: it has nothing to serve */
export async function checkArchive(
  status: Pick<FollowerStatus, 'height' | 'syncedAt' | 'trouble'> | undefined,
  peers: () => Promise<readonly NodeFinding[]> = async () => [],
): Promise<void> {
  const { height = 0n, syncedAt, trouble } = status ?? {}
  if (height !== 0n || syncedAt !== undefined || trouble === undefined) return
  const failed = (await peers()).filter(({ status }) => status === 'failed')
  const faults = failed.map(({ message }) => message.replace(/\.$/, ''))
  throw new ReadinessError([`no block could be followed yet: ${trouble}`, ...faults].join('. '))
}

function checkLag(lagMs: number, maxMs: number): void {
  if (lagMs <= maxMs) return
  throw new ReadinessError(`the index is ${Math.round(lagMs / 1000)} s behind acceptance`)
}

/** Throws while layer 1 shows a block that breaks the ledger's rules. */
function noInvalidBlock(following: Following): void {
  const { invalid, invalidBlocks } = following.now()?.follower.status() ?? {}
  if (invalid === undefined) return
  const { height, reason } = invalid
  throw new Error(`Block ${height} is invalid: ${reason} (invalid blocks since the start: ${invalidBlocks})`)
}

/**
 * Throws as {@link checkWatcher}, or while the watcher cannot be opened. A lack of funds keeps no users out:
 * an operator who hides blocks makes the watcher spend them.
 */
function checkWatching({ now, fault }: Following, hasUsers: boolean): void {
  const reason = fault()
  if (reason !== undefined) throw new ReadinessError(`the watcher cannot start: ${reason}`)
  const status = now()?.watcher?.status()
  if (status === undefined) return
  const { lack, ...able } = status
  checkWatcher(hasUsers ? able : status)
}

/** How many invalid blocks the follower of this process has found. */
export const invalidBlocksOf = ({ now }: Following): number => now()?.follower.status().invalidBlocks ?? 0
