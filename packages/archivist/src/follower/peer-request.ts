import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Feed } from '../body/feed.js'
import { childOf } from './child-controller.js'

/** Fewer bytes than this in a stall period are no progress. */
const leastProgress = 65_536

export interface PeerRequest<Result> {
  readonly url: string
  readonly agent: Agent
  /** Takes the answer as it comes; what it throws ends the request. */
  readonly feed: Feed<Result>
  /** Milliseconds. */
  readonly stallMs: number
  readonly signal: AbortSignal
}

/**
 * Asks a peer, whatever it may be up to: the answer is bounded by its feed, and each stall period must bring 64 KiB or the end. It is
 * not `fetch` that asks: it unfolds what is compressed, and forgets its signal when the garbage collector has come by.
 *
 * @returns undefined where the peer does not have it (404)
 * @throws Error that says what the peer did wrong; the signal's reason where that has ended
 */
export async function askPeer<Result>({
  url,
  agent,
  feed,
  stallMs,
  signal,
}: PeerRequest<Result>): Promise<Result | undefined> {
  const stop = childOf(signal)
  let progress = 0
  function judge(): void {
    if (progress < leastProgress) stop.abort(new Error(`it sent ${progress} bytes in ${stallMs} ms`))
    progress = 0
  }
  // What came while this process was busy is read before it is judged.
  const stall = setInterval(() => setImmediate(judge), stallMs)
  try {
    const response = await answerOf(url, agent, stop.signal)
    const { statusCode, headers } = response
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw new Error(`it answered ${statusCode}`)
    if (headers['content-encoding'] !== undefined)
      throw new Error('it answered in an encoding that was not asked for')
    for await (const piece of response) {
      progress += piece.length
      feed.push(piece)
    }
    return feed.end()
  } catch (error) {
    signal.throwIfAborted()
    if (stop.signal.aborted) throw stop.signal.reason
    throw described(error)
  } finally {
    clearInterval(stall)
    // Nothing more is wanted of the connection, whatever is still on its way.
    stop.end()
  }
}

/** The head of an answer; its connection breaks off with the signal. A redirect is an answer like others: whoever it names is no peer. */
function answerOf(url: string, agent: Agent, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const send = url.startsWith('https:') ? requestHttps : requestHttp
    const request = send(url, { agent, headers: { accept: 'application/cbor' } })
    // An answer that has come to its end has given its connection back to the agent already.
    signal.addEventListener('abort', () => request.destroy(), { once: true })
    let answered = false
    request.once('response', (response) => {
      answered = true
      resolve(response)
    })
    request.on('error', (error) => {
      if (answered) return
      // The peer has closed a connection that was kept: there are others, and it has done nothing wrong.
      const stale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      if (stale && !signal.aborted) resolve(answerOf(url, agent, signal))
      else reject(error)
    })
    request.end()
  })
}

function described(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.name === 'BlockError') return error
  return new Error(`the connection failed (${error.code})`, { cause: error })
}
