import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { BytesMap, toHex } from '@ratatosk/cbor'
import { type Answer, openPeer, type PeerNode } from './peer.js'
import type { Forwarder, ForwarderOptions, ForwardOutcome, MempoolTransaction } from './types.js'

/**
 * Gives the mempool to other nodes, to each at its own pace, and again until a block has it. Keeps nothing
 * but a place in the mempool for each peer, and when to ask it again.
 *
 * @throws TypeError for an invalid URL
 * @example
 * const forwarder = createForwarder({ mempool: store.blocks, peers, isNeeded: () => true, log: console })
 * await forwarder.close() // before the store
 */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { log, timeoutMs = 10_000, concurrency = 32 } = options
  const closing = new AbortController()
  // One listener for each running request.
  setMaxListeners(0, closing.signal)
  const counts: Record<ForwardOutcome, number> = { delivered: 0, known: 0, refused: 0, failed: 0 }
  const peers = [...new Set(options.peers)].map((address) => openPeer(address, timeoutMs, concurrency))

  async function serve(peer: PeerNode): Promise<void> {
    const givePage = openPages(peer, options, counts, closing.signal)
    let reported = ''
    while (!closing.signal.aborted) {
      let waitMs = 1000
      try {
        waitMs = await givePage()
        reported = ''
      } catch (error) {
        const reason = String(error)
        if (reason !== reported && !closing.signal.aborted)
          log.warn({ peer: peer.name, reason }, 'The mempool cannot be read: nothing is forwarded')
        reported = reason
      }
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const running = Promise.all(peers.map(serve))
  return {
    counts: () => ({ ...counts }),
    async close() {
      closing.abort()
      await running
      for (const peer of peers) peer.close()
    },
  }
}

/** Limits of what is read of the mempool at a time. */
const maxPage = 256
const maxPageBytes = 1_048_576
const maxBackoffMs = 30_000

/** @returns gives a peer the next page of the mempool; resolves to the milliseconds until the next one */
function openPages(
  peer: PeerNode,
  { mempool, isNeeded, log, ...options }: ForwarderOptions,
  counts: Record<ForwardOutcome, number>,
  signal: AbortSignal,
): () => Promise<number> {
  const { pollMs = 200, repeatMs = 10_000, backoffMs = 1000, concurrency = 32 } = options
  const schedule = createSchedule(repeatMs)
  const now = () => performance.now()
  let after = 0n
  /** Milliseconds that this round through the mempool took. */
  let spentMs = 0
  /** When the next round begins; set at the end of the mempool. */
  let repeatAt: number | undefined
  /** Pages in a row in which the peer answered nothing. */
  let failures = 0
  let hasRefused = false
  /** Whether the peer has answered for a transaction of this page. */
  let hasAnswered = false
  /** Why the page ends early: the milliseconds until the next one. */
  let pauseMs: number | undefined

  function startAgain(): void {
    after = 0n
    spentMs = 0
    repeatAt = undefined
  }

  function warn(reason: string): void {
    log.warn(
      { peer: peer.name, reason, backoffMs: pauseMs },
      'Peer takes no transactions and is tried again: check that its node is up, and its URL',
    )
  }

  async function give(transaction: MempoolTransaction): Promise<void> {
    const { id } = transaction
    let answer: Answer
    try {
      answer = await peer.give(transaction, signal)
    } catch (error) {
      if (signal.aborted) return
      counts.failed++
      // The others go first: perhaps the peer never answers to this one.
      schedule.asked(id, now(), false)
      if (pauseMs !== undefined || hasAnswered) return
      pauseMs = Math.min(backoffMs * 2 ** failures, maxBackoffMs)
      failures++
      if (failures === 2) warn(error instanceof Error ? error.message : String(error))
      return
    }
    if (answer.kind === 'busy') {
      if (pauseMs === undefined && answer.retryAfterMs > maxBackoffMs) warn(answer.reason)
      pauseMs = answer.retryAfterMs
      return
    }
    hasAnswered = true
    counts[answer.kind]++
    schedule.asked(id, now(), true)
    if (answer.kind === 'refused' && !hasRefused) {
      hasRefused = true
      log.warn(
        { peer: peer.name, reason: answer.reason, transaction: toHex(id) },
        'Peer refused a transaction. If it refuses all, its URL is not that of a node',
      )
    }
    if (failures > 1) {
      log.info({ peer: peer.name }, 'Peer takes transactions again')
      // In the order of acceptance, for what follows from others.
      schedule.forgive()
      startAgain()
      pauseMs = 0
    }
    failures = 0
  }

  return async () => {
    if (!(await isNeeded())) return pollMs
    const began = now()
    const page = await mempool.oldest(maxPage, maxPageBytes, after)
    const isDoubtful = ({ id }: MempoolTransaction) => schedule.isDoubtful(id)
    const due = page
      .filter(({ id }) => schedule.isDue(id, now()))
      .sort((a, b) => Number(isDoubtful(a)) - Number(isDoubtful(b)))
      .values()
    pauseMs = undefined
    hasAnswered = false
    async function work(): Promise<void> {
      for (const transaction of due) {
        await give(transaction)
        if (pauseMs !== undefined || signal.aborted) return
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    spentMs += now() - began
    if (pauseMs !== undefined) return pauseMs
    after = page.at(-1)?.sequence ?? after
    // No transaction has half the bytes of a page.
    const bytes = page.reduce((sum, { cbor }) => sum + cbor.length, 0)
    if (page.length === maxPage || bytes > maxPageBytes / 2) return 0
    // Rounds take a tenth of the time at most. They also find what came back to the mempool with its old
    // sequence.
    repeatAt ??= now() + Math.max(repeatMs, 9 * spentMs)
    if (now() >= repeatAt) startAgain()
    return pollMs
  }
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
