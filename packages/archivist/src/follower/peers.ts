import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { toHex } from '@ratatosk/ledger'
import type { BlockBody } from '../body/types.js'
import { bodyFeed, headerFeed, type PeerHeader } from './peer-answers.js'
import { askPeer } from './peer-request.js'
import type { Log } from './types.js'

/** The longest rest of a peer, in milliseconds. */
const longestRest = 300_000

/** An archivist interface somewhere else. */
export interface Peer {
  /** Its base address, as logs name it. */
  readonly name: string
  headerByHash(headerHash: Uint8Array, signal: AbortSignal): Promise<PeerHeader | undefined>
  headerByHeight(height: number, signal: AbortSignal): Promise<PeerHeader | undefined>
  body(headerHash: Uint8Array, signal: AbortSignal): Promise<BlockBody | undefined>
}

export interface PeerSettings {
  /** Milliseconds. */
  readonly stallMs: number
  readonly maxBodyBytes: number
  /** Milliseconds. */
  readonly backoffMs: number
}

/** Those who may have what is missing, none of them trusted. */
export interface Peers {
  /**
   * Asks one after another until one gives something. Whoever fails instead, or whose answer the question throws at, rests for a while
   * and is named in the log.
   *
   * @returns undefined where nobody who is not resting has it
   */
  ask<Result>(
    question: (peer: Peer) => Promise<Result | undefined>,
    signal: AbortSignal,
  ): Promise<Result | undefined>
  /** Milliseconds until somebody comes back who rests now; infinite where nobody does. */
  nextReturn(): number
  /** Closes what connections are kept. */
  close(): void
}

interface Standing {
  readonly peer: Peer
  readonly agent: Agent
  failures: number
  /** By the clock of `performance`. */
  restsUntil: number
}

/** @throws TypeError where an address cannot be a peer's; it is not quoted */
export function createPeers(addresses: readonly string[], settings: PeerSettings, log: Log): Peers {
  const all = [...new Set(addresses.map(baseAddress))].map((base): Standing => {
    const agent = new (base.startsWith('https:') ? HttpsAgent : Agent)({ keepAlive: true })
    return { agent, peer: createPeer(base, agent, settings), failures: 0, restsUntil: 0 }
  })
  if (all.length === 0) throw new TypeError('@ratatosk/archivist: a follower needs at least one peer')
  let turn = 0

  const isResting = ({ restsUntil }: Standing): boolean => restsUntil > performance.now()

  function rest(standing: Standing, error: unknown): void {
    // What else was on its way from it fails for the same reason.
    if (isResting(standing)) return
    const restMs = Math.min(settings.backoffMs * 2 ** standing.failures, longestRest)
    standing.failures++
    standing.restsUntil = performance.now() + restMs
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ peer: standing.peer.name, reason, restMs }, 'A peer is left alone for a while')
  }

  return {
    async ask(question, signal) {
      const first = turn++ % all.length
      for (const standing of [...all.slice(first), ...all.slice(0, first)]) {
        if (isResting(standing)) continue
        try {
          const result = await question(standing.peer)
          if (result === undefined) continue
          standing.failures = 0
          return result
        } catch (error) {
          signal.throwIfAborted()
          rest(standing, error)
        }
      }
      return undefined
    },

    nextReturn() {
      const resting = all.filter(isResting).map(({ restsUntil }) => restsUntil - performance.now())
      return Math.max(0, Math.min(...resting))
    },

    close() {
      for (const { agent } of all) agent.destroy()
    },
  }
}

function createPeer(base: string, agent: Agent, { stallMs, maxBodyBytes }: PeerSettings): Peer {
  const header = (id: string, signal: AbortSignal) =>
    askPeer({ url: `${base}/block/${id}/header`, agent, feed: headerFeed(), stallMs, signal })
  return {
    name: base,
    headerByHash: (headerHash, signal) => header(toHex(headerHash), signal),
    headerByHeight: (height, signal) => header(String(height), signal),
    body: (headerHash, signal) =>
      askPeer({
        url: `${base}/block/${toHex(headerHash)}/body`,
        agent,
        feed: bodyFeed(headerHash, maxBodyBytes),
        stallMs,
        signal,
      }),
  }
}

function baseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError('@ratatosk/archivist: the address of a peer begins with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw new TypeError(
      '@ratatosk/archivist: the address of a peer holds no user or password: it goes to the log',
    )
  return url.origin + url.pathname.replace(/\/+$/, '')
}
