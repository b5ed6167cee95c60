import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  type ArchivedBlock,
  type BlockBody,
  type EncodedBody,
  isBlockError,
  maxBodyBytes as mostBodyBytes,
  readEncodedBody,
} from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Log } from '@ratatosk/ports'
import { type BodyShare, createBodyBudget, createRoom, piecesWithin, takeDerivation } from './body-budget.js'
import { FollowerError } from './errors.js'
import { askPeer, bodyFeed, headerFeed, type PeerHeader, type PeerRequest } from './peer-request.js'
import type { FollowerOptions } from './types.js'

const maxBackoffMs = 300_000

interface Requests {
  /** Whether the peer has sent a wrong body, and no right one since. */
  isDoubted: boolean
  /** Sends a request; to a peer that is doubted, after the one before it. */
  send<Result>(request: () => Promise<Result>): Promise<Result>
}

function createRequests(): Requests {
  let last: Promise<unknown> = Promise.resolve()
  const requests: Requests = {
    isDoubted: false,
    send(request) {
      if (!requests.isDoubted) return request()
      const sent = last.then(request)
      last = sent.catch(() => undefined)
      return sent
    },
  }
  return requests
}

/** The archivist API of another node. */
export interface Peer {
  /** Base URL, for logs. */
  readonly name: string
  headerByHash(headerHash: Uint8Array, signal: AbortSignal): Promise<PeerHeader | undefined>
  headerByHeight(height: number, signal: AbortSignal): Promise<PeerHeader | undefined>
  /** @param share of the budget for bodies, from which it takes the bytes of the answer */
  body(headerHash: Uint8Array, share: BodyShare, signal: AbortSignal): Promise<EncodedBody | undefined>
}

/** Blocks that this process has: they are asked for first. */
export type OwnBlocks = NonNullable<FollowerOptions['own']>

/** The limits of a request to a peer; see `FollowerOptions`. */
export interface PeerSettings
  extends Pick<FollowerOptions, 'stallMs' | 'timeoutMs' | 'maxBodyBytes' | 'backoffMs' | 'budget'> {
  /** Whether bodies may have deposits: in a deployment with a bridge. @defaultValue false */
  readonly mayCredit?: boolean
}

/** A question about a body. */
export interface BodyQuestion<Result> {
  readonly headerHash: Uint8Array
  /**
   * From `openShare`, if its place is to be taken before or kept behind the question; it holds what the body
   * takes until the next body comes, or it is ended.
   */
  readonly share?: BodyShare
  readonly signal: AbortSignal
  /** A body at hand, which is checked before a peer is asked. */
  kept?(): Promise<BlockBody | undefined>
  /** Rejects if the body belongs to another header. Without it, any body is a result. */
  check?(body: BlockBody): Promise<Result | undefined>
}

/** Untrusted nodes that may have missing headers and bodies. */
export interface Peers {
  /**
   * Asks one peer after another until one has a result, skipping peers that back off. A peer for which
   * `question` rejects backs off and is named in the log.
   *
   * @returns undefined when no asked peer has a result
   */
  ask<Result>(
    question: (peer: Peer) => Promise<Result | undefined>,
    signal: AbortSignal,
  ): Promise<Result | undefined>
  /**
   * Asks for a body like {@link Peers.ask}. A peer that has sent another body than that of the header is
   * doubted: until it has sent a right one, it is asked for one thing at a time.
   */
  askBody<Result = EncodedBody>(question: BodyQuestion<Result>): Promise<Result | undefined>
  /** Takes the next place in the budget for bodies. The caller ends it. */
  openShare(): BodyShare
  /**
   * Milliseconds until a peer returns, of those whose backoff ends after `since`; infinite if there is none.
   *
   * @param since on the clock of `performance.now()`
   */
  nextReturn(since: number): number
  /** Closes idle connections. */
  close(): void
}

interface PeerState {
  readonly peer: Peer
  readonly requests: Requests
  /** Of a peer that is reached over HTTP. */
  readonly agent?: Agent
  failures: number
  /** On the clock of `performance.now()`. */
  backsOffUntil: number
}

const untried = { failures: 0, backsOffUntil: 0 }

/**
 * Asks the archivist APIs of other nodes.
 *
 * @param addresses base URLs, such as `http://sequencer:3000/archivist`
 * @param own asked before the others
 * @throws TypeError for an invalid URL, which the message does not quote because it may contain a password
 * @example
 * const peers = createPeers(['http://sequencer:3000/archivist'], {}, log)
 * const body = await peers.askBody({ headerHash, signal })
 */
export function createPeers(
  addresses: readonly string[],
  given: PeerSettings,
  log: Log,
  own?: OwnBlocks,
): Peers {
  const { stallMs = 10_000, timeoutMs = 300_000, backoffMs: firstBackoffMs = 1_000 } = given
  const { maxBodyBytes = mostBodyBytes, budget = createBodyBudget(), mayCredit = false } = given
  const others = [...new Set(addresses.map(peerAddress))].map((base): PeerState => {
    const agent = new (base.startsWith('https:') ? HttpsAgent : Agent)({ keepAlive: true })
    const requests = createRequests()
    const peer = createPeer(base, { agent, stallMs, timeoutMs }, { maxBodyBytes, mayCredit }, requests)
    return { agent, requests, peer, ...untried }
  })
  const first: readonly PeerState[] = own
    ? [{ peer: ownPeer(own), requests: createRequests(), ...untried }]
    : []
  const all = [...first, ...others]
  if (all.length === 0) throw new TypeError('@ratatosk/follower: at least one peer is required')
  let asked = 0

  const isBackingOff = ({ backsOffUntil }: PeerState): boolean => backsOffUntil > performance.now()

  function backOff(state: PeerState, error: unknown): void {
    // Its other requests fail for the same reason.
    if (isBackingOff(state)) return
    const backoffMs = Math.min(firstBackoffMs * 2 ** state.failures, maxBackoffMs)
    state.failures++
    state.backsOffUntil = performance.now() + backoffMs
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ peer: state.peer.name, reason, backoffMs }, 'Peer backed off')
  }

  async function askEach<Result>(
    question: (state: PeerState) => Promise<Result | undefined>,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const start = asked++ % Math.max(1, others.length)
    for (const state of [...first, ...others.slice(start), ...others.slice(0, start)]) {
      if (isBackingOff(state)) continue
      try {
        const result = await question(state)
        if (result === undefined) continue
        state.failures = 0
        return result
      } catch (error) {
        signal.throwIfAborted()
        backOff(state, error)
      }
    }
    return undefined
  }

  async function bodyFrom<Result>(
    { peer, requests }: PeerState,
    { headerHash, signal, check }: BodyQuestion<Result>,
    share: BodyShare,
  ): Promise<Result | undefined> {
    if (requests.isDoubted) await share.oldest(() => !requests.isDoubted, signal)
    share.release()
    try {
      const body = await peer.body(headerHash, share, signal)
      if (body === undefined) return undefined
      if (check === undefined) return body as Result
      await takeDerivation(body, share, signal, mayCredit)
      const result = await check(body)
      requests.isDoubted = false
      return result
    } catch (error) {
      if (isBlockError(error)) requests.isDoubted = true
      throw error
    }
  }

  return {
    ask: (question, signal) => askEach(({ peer }) => question(peer), signal),
    async askBody(question) {
      const { kept, check, signal } = question
      const body = await kept?.()
      const result = body && (await check?.(body).catch(() => undefined))
      if (result !== undefined) return result
      const share = question.share ?? budget.open()
      try {
        return await askEach((state) => bodyFrom(state, question, share), signal)
      } finally {
        if (question.share === undefined) share.end()
      }
    },

    openShare: budget.open,

    nextReturn(since) {
      const returns = all.map(({ backsOffUntil }) => backsOffUntil).filter((end) => end > since)
      return Math.max(0, Math.min(...returns) - performance.now())
    },

    close() {
      for (const { agent } of all) agent?.destroy()
    },
  }
}

function createPeer(
  base: string,
  limits: Pick<PeerRequest<unknown>, 'agent' | 'stallMs' | 'timeoutMs'>,
  { maxBodyBytes, mayCredit }: Required<Pick<PeerSettings, 'maxBodyBytes' | 'mayCredit'>>,
  { send }: Requests,
): Peer {
  const header = (id: string, signal: AbortSignal) =>
    send(() => askPeer({ ...limits, url: `${base}/block/${id}/header`, feed: headerFeed(), signal }))
  return {
    name: base,
    async headerByHash(headerHash, signal) {
      const found = await header(toHex(headerHash), signal)
      if (found === undefined || equalBytes(found.headerHash, headerHash)) return found
      throw new FollowerError('FOLLOWER_PEER_ANSWER', 'it sent the header of another block')
    },
    headerByHeight: (height, signal) => header(String(height), signal),
    body: (headerHash, share, signal) =>
      send(() =>
        askPeer({
          ...limits,
          url: `${base}/block/${toHex(headerHash)}/body`,
          feed: bodyFeed(headerHash, maxBodyBytes, mayCredit),
          room: createRoom(share, signal),
          signal,
        }),
      ),
  }
}

/**
 * The base URL of a peer, without query, fragment and final slashes.
 *
 * @throws TypeError for an invalid URL, which the message does not quote because it may contain a password
 */
export function peerAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('The URL of a peer must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw new TypeError('The URL of a peer must not contain a user or password, because it is logged')
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Blocks of this process, as a peer has them. */
function ownPeer(blocks: OwnBlocks): Peer {
  const header = (block: ArchivedBlock | undefined) =>
    block && { headerHash: block.headerHash, header: block.header, height: Number(block.height) }
  return {
    name: 'the blocks of this process',
    headerByHash: async (headerHash) => header(await blocks.byHash(headerHash)),
    headerByHeight: async (height) => header(await blocks.byHeight(BigInt(height))),
    async body(headerHash, share, signal) {
      if ((await blocks.byHash(headerHash)) === undefined) return undefined
      const pieces = piecesWithin(blocks.body(headerHash), share, signal)
      return readEncodedBody(pieces, Number.POSITIVE_INFINITY)
    },
  }
}
