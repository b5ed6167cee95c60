import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type Feed, isBlockError } from '@ratatosk/block'
import { childOf } from './child-controller.js'
import { FollowerError, isFollowerError } from './errors.js'

/** Minimum bytes per stall period. */
const minProgress = 65_536

export interface PeerRequest<Result> {
  readonly url: string
  readonly agent: Agent
  /** Parses the response as it arrives; an error ends the request. */
  readonly feed: Feed<Result>
  /** Milliseconds. */
  readonly stallMs: number
  /** Milliseconds that all of it may take. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Sends a request to an untrusted peer. The feed limits the size of the response, and each stall period must
 * bring 64 KiB or the end, up to the total limit. Does not use `fetch`, because it decompresses responses and
 * Node 20 may garbage-collect its abort signal.
 *
 * @returns undefined for 404
 * @throws {FollowerError} `FOLLOWER_PEER_ANSWER`; the feed's errors; the signal's reason
 */
export async function askPeer<Result>({
  url,
  agent,
  feed,
  stallMs,
  timeoutMs,
  signal,
}: PeerRequest<Result>): Promise<Result | undefined> {
  const stop = childOf(signal)
  let progress = 0
  function judge(): void {
    if (progress < minProgress) stop.abort(badAnswer(`it sent ${progress} bytes in ${stallMs} ms`))
    progress = 0
  }
  // `setImmediate` lets data that arrived while the event loop was blocked be counted first.
  const stall = setInterval(() => setImmediate(judge), stallMs)
  const late = setTimeout(() => stop.abort(badAnswer(`it took more than ${timeoutMs} ms`)), timeoutMs)
  try {
    const response = await answerOf(url, agent, stop.signal)
    const { statusCode, headers } = response
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw badAnswer(`it answered with status ${statusCode}`)
    if (headers['content-encoding'] !== undefined)
      throw badAnswer('it answered in an encoding that was not requested')
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
    clearTimeout(late)
    // Ends a connection that is still sending.
    stop.end()
  }
}

/**
 * Resolves at the response head. The signal ends the connection. Redirects are not followed: the target is
 * not a peer.
 */
function answerOf(url: string, agent: Agent, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const send = url.startsWith('https:') ? requestHttps : requestHttp
    const request = send(url, { agent, headers: { accept: 'application/cbor' } })
    // No effect after the end: a finished response has returned its connection to the agent.
    signal.addEventListener('abort', () => request.destroy(), { once: true })
    let answered = false
    request.once('response', (response) => {
      answered = true
      resolve(response)
    })
    request.on('error', (error) => {
      if (answered) return
      // The peer closed an idle connection, which is not a failure: retry on another one.
      const stale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      if (stale && !signal.aborted) resolve(answerOf(url, agent, signal))
      else reject(error)
    })
    request.end()
  })
}

function described(error: unknown): unknown {
  if (isBlockError(error) || isFollowerError(error)) return error
  if (!(error instanceof Error) || !('code' in error)) return error
  return badAnswer(`the connection failed (${error.code})`, error)
}

const badAnswer = (what: string, cause?: Error): FollowerError =>
  new FollowerError('FOLLOWER_PEER_ANSWER', what, cause && { cause })
