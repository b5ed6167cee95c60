import { decodeHeader, encodeHeader, headerHash } from '@ratatosk/contracts'
import { equalBytes, toHex } from '@ratatosk/ledger'
import type { ArchivedBlock } from '../archive.js'
import type { Peer, Peers } from './peers.js'
import type { ChainState, WritableArchive } from './types.js'

/** A block that the archive lacks. */
export interface MissingBlock {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** How the newest block of layer 1 is reached from what is archived. */
export interface HeaderPath {
  /** The newest archived block that is part of it; undefined: it begins at genesis. */
  readonly fork: ArchivedBlock | undefined
  /** Upon the fork, the oldest first. */
  readonly missing: readonly MissingBlock[]
  /** Height of the newest merged block; 0: there is none. */
  readonly mergedHeight: bigint
}

export interface HeaderPaths {
  /**
   * Follows the headers backwards from what layer 1 shows: those of the queue are given, those before it come from peers, each taken
   * for its hash alone.
   *
   * @returns undefined where a header is missing that no peer has now
   * @throws Error where the queue is not linked
   */
  find(state: ChainState, signal: AbortSignal): Promise<HeaderPath | undefined>
  /** Forgets the headers that were found: they are archived. */
  forget(): void
}

/** Headers asked for at a time, by the heights at which a peer should have them. */
const mostGuesses = 32

export function createHeaderPaths(archive: WritableArchive, peers: Peers): HeaderPaths {
  /** By hash. A long way back is not gone twice, though its bodies take long. */
  const found = new Map<string, Uint8Array>()
  let guesses = 1

  /** From the peer that has one header, those before it: by height they can be asked for all at once. */
  async function guessBefore(peer: Peer, height: number, signal: AbortSignal): Promise<void> {
    const tip = Number((await archive.tip())?.height ?? 0n)
    const lowest = Math.max(tip + 1, height - guesses)
    const heights = Array.from({ length: Math.max(0, height - lowest) }, (_, n) => lowest + n)
    const headers = await Promise.all(heights.map((guess) => peer.headerByHeight(guess, signal)))
    for (const header of headers) if (header) found.set(toHex(header.headerHash), header.header)
    guesses = Math.min(2 * guesses, mostGuesses)
  }

  async function header(hash: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const known = found.get(toHex(hash))
    if (known) return known
    return peers.ask(async (peer) => {
      const answer = await peer.headerByHash(hash, signal)
      if (answer === undefined) return undefined
      if (!equalBytes(answer.headerHash, hash)) throw new Error('it sent the header of another block')
      found.set(toHex(hash), answer.header)
      await guessBefore(peer, answer.height, signal)
      return answer.header
    }, signal)
  }

  return {
    async find({ confirmed, blocks }, signal) {
      const queue = linked(confirmed.headerHash, blocks)
      const backwards: MissingBlock[] = []
      let hash = queue.at(-1)?.headerHash ?? confirmed.headerHash
      let fork: ArchivedBlock | undefined
      let merged = isGenesis(confirmed.headerHash) ? 0n : undefined
      const waiting = [...queue]
      while (!isGenesis(hash)) {
        fork = await archive.byHash(hash)
        if (fork) break
        const bytes = waiting.pop()?.header ?? (await header(hash, signal))
        if (bytes === undefined) return undefined
        backwards.push({ headerHash: hash, header: bytes })
        hash = decodeHeader(bytes).prevHeaderHash
      }
      const missing = backwards.reverse()
      const place = missing.findIndex(({ headerHash }) => equalBytes(headerHash, confirmed.headerHash))
      if (place >= 0) merged = (fork?.height ?? 0n) + BigInt(place) + 1n
      merged ??= (await archive.byHash(confirmed.headerHash))?.height ?? 0n
      return { fork, missing, mergedHeight: merged }
    },

    forget() {
      found.clear()
      guesses = 1
    },
  }
}

/** The headers of a queue with their hashes. */
function linked(confirmed: Uint8Array, headers: ChainState['blocks']): MissingBlock[] {
  let last = confirmed
  return headers.map((header) => {
    if (!equalBytes(header.prevHeaderHash, last))
      throw new Error('The blocks of the state queue are not linked')
    last = headerHash(header)
    return { headerHash: last, header: encodeHeader(header) }
  })
}

const isGenesis = (hash: Uint8Array): boolean => hash.every((byte) => byte === 0)
