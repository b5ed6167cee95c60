import { Agent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { toHex } from '@ratatosk/cbor'
import { callPeer, type PeerCall, peerAddress } from '../index.js'
import type { MempoolTransaction } from './types.js'

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

export interface PeerNode {
  /** Base URL, for logs. */
  readonly name: string
  /** Submits a transaction, unless the peer has it. Throws if the peer does not answer as a node does. */
  give(transaction: MempoolTransaction, signal: AbortSignal): Promise<Answer>
  close(): void
}

/** @throws TypeError for an invalid URL */
export function openPeer(address: string, timeoutMs: number, concurrency: number): PeerNode {
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
