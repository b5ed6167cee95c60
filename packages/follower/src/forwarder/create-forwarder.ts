import { setMaxListeners } from 'node:events'
import { Agent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { BytesMap, toHex } from '@ratatosk/cbor'
import type { Log } from '@ratatosk/ports'
import { callPeer, type PeerCall, peerAddress } from '../index.js'

/** A transaction of the mempool. */
export interface MempoolTransaction {
  /** Its position in the order of acceptance, from 1. */
  readonly sequence: bigint
  /** 32 bytes. */
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

/** Accepted transactions that are in no block: `store.blocks` of `@ratatosk/store`. */
export interface Mempool {
  /**
   * The oldest ones in order of acceptance: at most `limit`, and as many as have at most `maxBytes` of CBOR
   * together, but always one.
   *
   * @param after a sequence: those after it only
   */
  oldest(limit: number, maxBytes: number, after: bigint): Promise<readonly MempoolTransaction[]>
}

export interface ForwarderOptions {
  readonly mempool: Mempool
  /** Base URLs of nodes, such as `http://node:3000`. */
  readonly peers: readonly string[]
  /** Whether to forward now: not while the own operator is in turn, nor in a process that stands by. */
  isNeeded(): boolean | Promise<boolean>
  readonly log: Log
  /** Milliseconds between two reads of the mempool. @defaultValue 200 */
  readonly pollMs?: number
  /** Maximum number of concurrent requests to a peer. @defaultValue 32 */
  readonly concurrency?: number
  /**
   * Milliseconds until a peer is asked again for a transaction; doubles each time, up to 5 minutes.
   * @defaultValue 10000
   */
  readonly repeatMs?: number
  /** Milliseconds of a peer's first backoff; doubles with each failure, up to 30 s. @defaultValue 1000 */
  readonly backoffMs?: number
  /** Milliseconds that a request may take. @defaultValue 10000 */
  readonly timeoutMs?: number
}

/**
 * How offering a transaction to a peer ended: `delivered`: it is in the peer's queue; `known`: the peer had
 * accepted it; `refused`: the peer answered that it is no transaction for it; `failed`: no such answer.
 */
export type ForwardOutcome = 'delivered' | 'known' | 'refused' | 'failed'

export interface Forwarder {
  /** Outcomes so far, of all peers. */
  counts(): Readonly<Record<ForwardOutcome, number>>
  /** Ends running requests. Safe to call twice. */
  close(): Promise<void>
}

/** Limits of what is read of the mempool at a time. */
const maxPage = 256
const maxPageBytes = 1_048_576
const maxBackoffMs = 30_000

const defaults = { pollMs: 200, concurrency: 32, repeatMs: 10_000, backoffMs: 1000, timeoutMs: 10_000 }

/** A way through the mempool, from its oldest transaction on. */
interface Round {
  after: bigint
  /** Milliseconds that it took. */
  spentMs: number
  /** When the next one begins; set at the end of the mempool. */
  repeatAt: number | undefined
}

const newRound = (): Round => ({ after: 0n, spentMs: 0, repeatAt: undefined })

/** Transactions that a peer is given at a time. */
interface Page {
  /** Whether the peer has answered for one of them. */
  hasAnswered: boolean
  /** Why the page ends early: the milliseconds until the next one. */
  pauseMs: number | undefined
}

/** The work for a peer. */
interface Delivery extends Required<ForwarderOptions> {
  readonly peer: PeerNode
  readonly counts: Record<ForwardOutcome, number>
  readonly signal: AbortSignal
  readonly schedule: Schedule
  round: Round
  /** Pages in a row in which the peer answered nothing. */
  failures: number
  hasRefused: boolean
}

/**
 * Gives the mempool to other nodes, to each at its own pace, and again until a block has it. Keeps nothing
 * but a place in the mempool for each peer, and when to ask it again.
 *
 * @throws TypeError for an invalid URL
 * @example
 * const forwarder = createForwarder({ mempool: store.blocks, peers, isNeeded: () => true, log: console })
 * await forwarder.close() // before the store
 */
export function createForwarder(given: ForwarderOptions): Forwarder {
  const options = { ...defaults, ...given }
  const { timeoutMs, concurrency, repeatMs } = options
  const closing = new AbortController()
  const { signal } = closing
  // One listener for each running request.
  setMaxListeners(0, signal)
  const counts: Record<ForwardOutcome, number> = { delivered: 0, known: 0, refused: 0, failed: 0 }
  const peers = [...new Set(options.peers)].map((address) => openPeer(address, timeoutMs, concurrency))
  const running = Promise.all(
    peers.map((peer) => {
      const schedule = createSchedule(repeatMs)
      const state = { schedule, round: newRound(), failures: 0, hasRefused: false }
      return serve({ ...options, peer, counts, signal, ...state })
    }),
  )
  return {
    counts: () => ({ ...counts }),
    async close() {
      closing.abort()
      await running
      for (const peer of peers) peer.close()
    },
  }
}

async function serve(delivery: Delivery): Promise<void> {
  const { peer, log, signal } = delivery
  let reported = ''
  while (!signal.aborted) {
    let waitMs = 1000
    try {
      waitMs = await givePage(delivery)
      reported = ''
    } catch (error) {
      const reason = String(error)
      if (reason !== reported && !signal.aborted)
        log.warn({ peer: peer.name, reason }, 'The mempool cannot be read: nothing is forwarded')
      reported = reason
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Gives the peer the next page of the mempool. @returns milliseconds until the next one */
async function givePage(delivery: Delivery): Promise<number> {
  const { schedule, signal, pollMs } = delivery
  if (!(await delivery.isNeeded())) return pollMs
  const began = performance.now()
  const read = await delivery.mempool.oldest(maxPage, maxPageBytes, delivery.round.after)
  const isDoubtful = ({ id }: MempoolTransaction) => schedule.isDoubtful(id)
  const due = read
    .filter(({ id }) => schedule.isDue(id, performance.now()))
    .sort((a, b) => Number(isDoubtful(a)) - Number(isDoubtful(b)))
    .values()
  const page: Page = { hasAnswered: false, pauseMs: undefined }
  async function work(): Promise<void> {
    for (const transaction of due) {
      await give(delivery, page, transaction)
      if (page.pauseMs !== undefined || signal.aborted) return
    }
  }
  await Promise.all(Array.from({ length: delivery.concurrency }, work))
  const { round } = delivery
  round.spentMs += performance.now() - began
  if (page.pauseMs !== undefined) return page.pauseMs
  round.after = read.at(-1)?.sequence ?? round.after
  // No transaction has half the bytes of a page.
  const bytes = read.reduce((sum, { cbor }) => sum + cbor.length, 0)
  if (read.length === maxPage || bytes > maxPageBytes / 2) return 0
  // Rounds take a tenth of the time at most. They also find what came back to the mempool with its old
  // sequence.
  round.repeatAt ??= performance.now() + Math.max(delivery.repeatMs, 9 * round.spentMs)
  if (performance.now() >= round.repeatAt) delivery.round = newRound()
  return pollMs
}

async function give(delivery: Delivery, page: Page, transaction: MempoolTransaction): Promise<void> {
  const { peer, log, counts, signal, schedule } = delivery
  const { id } = transaction
  const answer = await peer.give(transaction, signal).catch((error: unknown) => {
    if (!signal.aborted) noteFailure(delivery, page, id, error)
  })
  if (answer === undefined) return
  if (answer.kind === 'busy') {
    if (page.pauseMs === undefined && answer.retryAfterMs > maxBackoffMs) warn(delivery, answer.reason)
    page.pauseMs = answer.retryAfterMs
    return
  }
  page.hasAnswered = true
  counts[answer.kind]++
  schedule.asked(id, performance.now(), true)
  if (answer.kind === 'refused' && !delivery.hasRefused) {
    delivery.hasRefused = true
    log.warn(
      { peer: peer.name, reason: answer.reason, transaction: toHex(id) },
      'Peer refused a transaction. If it refuses all, its URL is not that of a node',
    )
  }
  if (delivery.failures > 1) {
    log.info({ peer: peer.name }, 'Peer takes transactions again')
    // In the order of acceptance, for what follows from others.
    schedule.forgive()
    delivery.round = newRound()
    page.pauseMs = 0
  }
  delivery.failures = 0
}

/** The peer has not answered as a node does. */
function noteFailure(delivery: Delivery, page: Page, id: Uint8Array, error: unknown): void {
  delivery.counts.failed++
  // The others go first: perhaps the peer never answers to this one.
  delivery.schedule.asked(id, performance.now(), false)
  if (page.pauseMs !== undefined || page.hasAnswered) return
  page.pauseMs = Math.min(delivery.backoffMs * 2 ** delivery.failures, maxBackoffMs)
  delivery.failures++
  if (delivery.failures === 2)
    warn(delivery, error instanceof Error ? error.message : String(error), page.pauseMs)
}

function warn({ peer, log }: Delivery, reason: string, backoffMs?: number): void {
  log.warn(
    { peer: peer.name, reason, backoffMs },
    'Peer takes no transactions and is tried again: check that its node is up, and its URL',
  )
}

/** Upper bound of the interval in which a peer is asked again for a transaction, in milliseconds. */
const maxRepeatMs = 300_000
/** Transactions that are remembered for a peer, about 4 MB. The rest is asked for in every round. */
const maxEntries = 20_000

/** When a peer may be asked again for which transaction: at intervals that double. */
interface Schedule {
  isDue(id: Uint8Array, now: number): boolean
  /** @param answered whether the peer has answered */
  asked(id: Uint8Array, now: number, answered: boolean): void
  /** Asks at once for those for which the peer has not answered one time. */
  forgive(): void
  /** Whether the peer has not answered for it twice in a row: perhaps it never does. */
  isDoubtful(id: Uint8Array): boolean
}

/** @param repeatMs the first interval */
export function createSchedule(repeatMs: number): Schedule {
  const entries = new BytesMap<{ due: number; waitMs: number; unanswered: number }>()
  return {
    isDue: (id, now) => (entries.get(id)?.due ?? 0) <= now,
    asked(id, now, answered) {
      const before = entries.get(id)
      const waitMs = Math.min((before?.waitMs ?? repeatMs / 2) * 2, maxRepeatMs)
      const unanswered = answered ? 0 : (before?.unanswered ?? 0) + 1
      // The newest comes last.
      entries.delete(id)
      entries.set(id, { due: now + waitMs, waitMs, unanswered })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
    forgive() {
      for (const entry of entries.values()) if (entry.unanswered === 1) entry.due = 0
    },
    isDoubtful: (id) => (entries.get(id)?.unanswered ?? 0) > 1,
  }
}

/** The part of an answer that is read: the beginning says everything. */
const maxAnswerBytes = 16_384
/** Upper bound of the wait that a peer may ask for, in milliseconds. */
const maxRetryAfterMs = 300_000
/** Statuses that end the search of a peer for a transaction: it was accepted there. */
const accepted = ['mempool', 'built', 'submitted', 'committed', 'mature', 'merged']

type Answer =
  | { readonly kind: 'delivered' | 'known' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** It takes nothing for so many milliseconds. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterMs: number }

interface PeerNode {
  /** Base URL, for logs. */
  readonly name: string
  /** Submits a transaction, unless the peer has it. Throws if the peer does not answer as a node does. */
  give(transaction: MempoolTransaction, signal: AbortSignal): Promise<Answer>
  close(): void
}

/** @throws TypeError for an invalid URL */
function openPeer(address: string, timeoutMs: number, concurrency: number): PeerNode {
  const base = peerAddress(address)
  const options = { keepAlive: true, maxSockets: concurrency }
  const agent = new (base.startsWith('https:') ? HttpsAgent : Agent)(options)
  const call = (path: string, signal: AbortSignal, text?: string) => {
    const limits: Pick<PeerCall, 'stallMs' | 'timeoutMs'> = { stallMs: timeoutMs, timeoutMs }
    const body = text === undefined ? {} : { text }
    const request = { url: base + path, agent, accept: 'application/json', ...limits, ...body, signal }
    return callPeer(request, readReply)
  }
  return {
    name: base,
    async give({ id, cbor }, signal) {
      const found = await call(`/tx/status?tx_hash=${toHex(id)}`, signal)
      const busy = busyBy(found)
      if (busy !== undefined) return busy
      // Not every node serves statuses. A wrong answer costs nothing more than not to take the transaction.
      if (found.status === 200 && isAccepted(found.text)) return { kind: 'known' }
      return answerOf(await call('/submit', signal, toHex(cbor)))
    },
    close: () => agent.destroy(),
  }
}

interface Reply {
  readonly status: number
  readonly retryAfter: string | undefined
  /** At most so much of the body as is read. */
  readonly text: string
}

async function readReply(response: IncomingMessage): Promise<Reply> {
  let bytes = 0
  const pieces: Buffer[] = []
  for await (const piece of response) {
    pieces.push(piece)
    bytes += piece.length
    // Ends the connection.
    if (bytes >= maxAnswerBytes) break
  }
  const text = Buffer.concat(pieces).subarray(0, maxAnswerBytes).toString()
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text }
}

/** A longer answer than is read is not JSON: only a rejection has details of such a size. */
function isAccepted(text: string): boolean {
  try {
    return accepted.includes(JSON.parse(text)?.status)
  } catch {
    return false
  }
}

function busyBy({ status, retryAfter }: Reply): Answer | undefined {
  if (status !== 429 && (status < 500 || retryAfter === undefined)) return undefined
  const seconds = Number(retryAfter)
  const retryAfterMs = Math.min(seconds > 0 ? seconds * 1000 : 1000, maxRetryAfterMs)
  return { kind: 'busy', reason: `it answered with status ${status}`, retryAfterMs }
}

function answerOf(reply: Reply): Answer {
  const { status } = reply
  if (status === 200) return { kind: 'delivered' }
  const busy = busyBy(reply)
  if (busy !== undefined) return busy
  const reason = `it answered with status ${status}`
  // A refusal says that the peer is there. It must not hold up other transactions.
  if (status >= 400 && status < 500) return { kind: 'refused', reason }
  throw new Error(reason)
}
