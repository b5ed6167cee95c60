import {
  type ArchivedBlock,
  decodeHeader,
  encodedHeader,
  isGenesisHeaderHash as isGenesis,
  type WritableArchive,
} from '@ratatosk/block'
import { BytesMap, equalBytes } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import { type Contracts, readStateQueue, soundBlocks, soundRoot } from '@ratatosk/protocol'
import { FollowerError } from './errors.js'
import type { Peer, Peers } from './peers.js'
import type { ChainState, QueueReader } from './types.js'

export interface MissingBlock {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
}

/** The headers from the archive to the newest block on layer 1. */
export interface HeaderPath {
  /** The newest archived block on layer 1's chain; undefined if the path begins at genesis. */
  readonly fork: ArchivedBlock | undefined
  /** The blocks after `fork`, the oldest first. */
  readonly missing: readonly MissingBlock[]
  /** Height of the newest merged block; 0 when there is none. */
  readonly mergedHeight: bigint
}

export interface HeaderPaths {
  /**
   * Follows headers back from layer 1's newest block, older ones from peers; undefined if one is missing.
   * @throws {FollowerError} `FOLLOWER_BROKEN_QUEUE` when the queue's headers do not follow each other
   */
  find(state: ChainState, signal: AbortSignal): Promise<HeaderPath | undefined>
  /** Forgets the headers found so far, once they are archived. */
  forget(): void
}

/** Maximum number of headers that are requested concurrently by their presumed heights. */
const maxGuesses = 32

export function createHeaderPaths(archive: WritableArchive, peers: Peers): HeaderPaths {
  /** Headers by hash, so that a long path is not requested again while its bodies are downloaded. */
  const found = new BytesMap<Uint8Array>()
  let guesses = 1

  /** Requests the headers before a height concurrently, from the peer that sent the header at that height. */
  async function guessBefore(peer: Peer, height: number, signal: AbortSignal): Promise<void> {
    const tip = Number((await archive.tip())?.height ?? 0n)
    const lowest = Math.max(tip + 1, height - guesses)
    const heights = Array.from({ length: Math.max(0, height - lowest) }, (_, n) => lowest + n)
    const headers = await Promise.all(heights.map((guess) => peer.headerByHeight(guess, signal)))
    for (const header of headers) if (header) found.set(header.headerHash, header.header)
    guesses = Math.min(2 * guesses, maxGuesses)
  }

  async function header(hash: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const known = found.get(hash)
    if (known) return known
    return peers.ask(async (peer) => {
      const answer = await peer.headerByHash(hash, signal)
      if (answer === undefined) return undefined
      found.set(hash, answer.header)
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

/** Verifies that the headers of a queue follow each other, and hashes them. */
function linked(confirmed: Uint8Array, headers: ChainState['blocks']): MissingBlock[] {
  let last = confirmed
  return headers.map((header) => {
    if (!equalBytes(header.prevHeaderHash, last))
      throw new FollowerError(
        'FOLLOWER_BROKEN_QUEUE',
        'The headers of the state queue do not follow each other',
      )
    const { bytes, hash } = encodedHeader(header)
    last = hash
    return { headerHash: hash, header: bytes }
  })
}

/** Reads the state queue of the contracts from layer 1. */
export function layer1Chain(layer1: Pick<Layer1, 'utxosByPolicy'>, contracts: Contracts): QueueReader {
  return {
    async read(signal) {
      const utxos = await layer1.utxosByPolicy(contracts.scripts.queue.policy, { signal })
      const queue = readStateQueue(contracts, utxos)
      return {
        confirmed: soundRoot(queue).datum.state,
        // Blocks behind a removed block can never be merged.
        blocks: soundBlocks(queue).map(({ datum }) => datum.header),
      }
    },
  }
}
