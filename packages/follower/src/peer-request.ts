import { setMaxListeners } from 'node:events'
import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import {
  BlockError,
  bodyGrammar,
  bodyOfEncoding,
  byteString,
  createFeed,
  createPauses,
  decodeHeader,
  type EncodedBody,
  expectBytes,
  type Feed,
  type Grammar,
  isBlockError,
  keepingFeed,
  unsigned,
} from '@ratatosk/block'
import { CborWriter, concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
import { FollowerError, isFollowerError } from './errors.js'

/** Minimum bytes per stall period. */
const minProgress = 65_536

/** A request to an untrusted peer. */
export interface PeerCall {
  readonly url: string
  readonly agent: Agent
  /** Media type of the answer. */
  readonly accept: string
  /** Sent by POST, as plain text; without it, the request is a GET. */
  readonly text?: string
  /** Milliseconds. */
  readonly stallMs: number
  /** Milliseconds that all of it may take. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface PeerRequest<Result> extends Omit<PeerCall, 'accept' | 'text'> {
  /** Parses the response as it arrives; an error ends the request. */
  readonly feed: Feed<Result | Promise<Result>>
  /** Resolves when there is room for more bytes. Until then the peer is not read, and not blamed. */
  readonly room?: (bytes: number) => Promise<void>
}

/** Asks an untrusted peer; undefined for 404. @throws {FollowerError} `FOLLOWER_PEER_ANSWER`, feed errors */
export async function askPeer<Result>({
  feed,
  room,
  ...call
}: PeerRequest<Result>): Promise<Result | undefined> {
  await room?.(0)
  return callPeer({ ...call, accept: 'application/cbor' }, async (response, progressed, suspended) => {
    const { statusCode, headers } = response
    if (statusCode === 404) return undefined
    if (statusCode !== 200) throw badAnswer(`it answered with status ${statusCode}`)
    if (headers['content-encoding'] !== undefined)
      throw badAnswer('it answered in an encoding that was not requested')
    const pauseIfDue = createPauses()
    for await (const piece of response) {
      progressed(piece.length)
      if (room !== undefined) await suspended(room(piece.length))
      feed.push(piece)
      // Pieces that wait come one after another, without a pause for other work.
      await pauseIfDue()
    }
    return feed.end()
  })
}

/**
 * Sends a request to an untrusted peer. Each stall period must bring 64 KiB or the end, up to the total
 * limit. Does not use `fetch`, because it decompresses responses and Node 20 may garbage-collect its abort
 * signal.
 *
 * @param read reads the response, and limits its size; told `progressed`, it counts bytes; the time for which
 *   this process waits itself, in `suspended`, is not the peer's
 * @throws {FollowerError} `FOLLOWER_PEER_ANSWER`; what `read` throws; the signal's reason
 */
export async function callPeer<Result>(
  call: PeerCall,
  read: (
    response: IncomingMessage,
    progressed: (bytes: number) => void,
    suspended: (waiting: Promise<void>) => Promise<void>,
  ) => Promise<Result>,
): Promise<Result> {
  const { stallMs, timeoutMs, signal } = call
  const stop = childOf(signal)
  let progress = 0
  /** How long this process itself has waited in this period, and since when it waits. */
  let waited = 0
  let waitsSince: number | undefined
  function judge(): void {
    const now = performance.now()
    const own = waited + (waitsSince === undefined ? 0 : now - waitsSince)
    if (progress < minProgress * (1 - own / stallMs))
      stop.abort(badAnswer(`it sent ${progress} bytes in ${stallMs} ms`))
    progress = 0
    waited = 0
    if (waitsSince !== undefined) waitsSince = now
  }
  // `setImmediate` lets data that arrived while the event loop was blocked be counted first.
  const stall = setInterval(() => setImmediate(judge), stallMs)
  let lateAt = performance.now() + timeoutMs
  const tooLate = (): void => stop.abort(badAnswer(`it took more than ${timeoutMs} ms`))
  let late = setTimeout(tooLate, timeoutMs)
  async function suspended(waiting: Promise<void>): Promise<void> {
    const since = performance.now()
    waitsSince = since
    clearTimeout(late)
    await waiting
    waited += performance.now() - waitsSince
    waitsSince = undefined
    lateAt += performance.now() - since
    late = setTimeout(tooLate, lateAt - performance.now())
  }
  const progressed = (bytes: number): void => {
    progress += bytes
  }
  try {
    return await read(await answerOf(call, stop.signal), progressed, suspended)
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

/** Resolves at the response head. Redirects are not followed: the target is not a peer. */
function answerOf(call: PeerCall, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, agent, accept, text } = call
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const send = url.startsWith('https:') ? requestHttps : requestHttp
    const request = send(url, {
      agent,
      method: text === undefined ? 'GET' : 'POST',
      headers: { accept, ...(text !== undefined && { 'content-type': 'text/plain' }) },
    })
    // No effect after the end: a finished response has returned its connection to the agent.
    signal.addEventListener('abort', () => request.destroy(), { once: true })
    let answered = false
    request.once('response', (response) => {
      answered = true
      resolve(response)
    })
    // Without a listener, Node ends such a connection without a word.
    request.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(badAnswer('it answered with status 101'))
    })
    request.once('close', () => {
      if (!answered) reject(badAnswer('it closed the connection without an answer'))
    })
    request.on('error', (error) => {
      if (answered) return
      // The peer closed an idle connection, which is not a failure: retry on another one.
      const stale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      if (stale && !signal.aborted) resolve(answerOf(call, signal))
      else reject(error)
    })
    request.end(text)
  })
}

function described(error: unknown): unknown {
  if (isBlockError(error) || isFollowerError(error)) return error
  if (!(error instanceof Error) || !('code' in error)) return error
  return badAnswer(`the connection failed (${error.code})`, error)
}

const badAnswer = (what: string, cause?: Error): FollowerError =>
  new FollowerError('FOLLOWER_PEER_ANSWER', what, cause && { cause })

/** A controller that is aborted when its parent signal is. */
interface ChildController extends AbortController {
  /** Detaches from the parent signal and aborts. */
  end(): void
}

/** Like `AbortSignal.any`, whose signals Node 20 never frees while their parent lives: about 3 KB each. */
export function childOf(parent: AbortSignal): ChildController {
  const controller = new AbortController()
  // One listener per running request.
  setMaxListeners(0, controller.signal)
  const abort = () => controller.abort(parent.reason)
  if (parent.aborted) abort()
  else parent.addEventListener('abort', abort, { once: true })
  return Object.assign(controller, {
    end() {
      parent.removeEventListener('abort', abort)
      controller.abort()
    },
  })
}

/** A header from a peer, verified to have its hash. */
export interface PeerHeader {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** Claimed by the peer, not verified: only the chain of hashes to genesis proves a height. */
  readonly height: number
}

/** Enough for ten fields of at most 32 bytes each, in any encoding. */
const maxHeaderBytes = 1024

/** Enough for the rest of a response that contains a body or header. */
const maxEnvelopeBytes = 256

const key = (name: string): Uint8Array => new CborWriter(16).text(name).toBytes()
const mapOfThree = Uint8Array.of(0xa3)
const bodyOpening = concatBytes(mapOfThree, key('body'))
const hashOpening = concatBytes(key('hash'), Uint8Array.of(0x58, 28))

/** Parses the response of `/block/{id}/header` and verifies the header's hash. */
export function headerFeed(): Feed<PeerHeader> {
  return createFeed(headerAnswer(), maxHeaderBytes + maxEnvelopeBytes)
}

/** Parses the response of `/block/{hash}/body`. @param mayCredit whether the body may have deposits */
export function bodyFeed(
  headerHash: Uint8Array,
  maxBodyBytes: number,
  mayCredit: boolean,
): Feed<Promise<EncodedBody>> {
  const answer = bodyAnswer(headerHash, maxBodyBytes, mayCredit)
  const feed = createFeed(answer, maxBodyBytes + maxEnvelopeBytes)
  return keepingFeed(feed, (bytes, endLength) =>
    bodyOfEncoding(bytes.subarray(bodyOpening.length, bytes.length - endLength)),
  )
}

function* headerAnswer(): Grammar<PeerHeader> {
  yield* expectBytes(concatBytes(mapOfThree, hashOpening))
  const headerHash = Uint8Array.from(yield 28)
  yield* expectBytes(key('header'))
  const header = Uint8Array.from(yield* byteString(maxHeaderBytes))
  if (!equalBytes(blake2b224(header), headerHash))
    throw new BlockError(
      'BLOCK_BODY_MISMATCH',
      'The header does not have the hash that the peer sent with it',
    )
  decodeHeader(header)
  yield* expectBytes(key('height'))
  return { headerHash, header, height: yield* unsigned() }
}

/** @returns bytes behind the body */
function* bodyAnswer(headerHash: Uint8Array, maxBodyBytes: number, mayCredit: boolean): Grammar<number> {
  yield* expectBytes(bodyOpening)
  yield* bodyGrammar(() => undefined, maxBodyBytes, mayCredit)
  const end = concatBytes(hashOpening, headerHash, key('height'))
  yield* expectBytes(end)
  return end.length + new CborWriter(9).uint(yield* unsigned()).toBytes().length
}
