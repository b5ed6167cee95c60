import { equalBytes } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { type AuditedHeader, blake2b224, createHashes, readHeader } from './header.js'
import type { Sources } from './sources.js'
import { reasonOf } from './transaction.js'
import type { QueueReading } from './types.js'

export type RootedQueue = QueueReading & Required<Pick<QueueReading, 'confirmed'>>

/** The blocks that layer 1 vouches for: its queue, and before that what each header names. */
export interface Trace {
  readonly height: number
  /** The header hash at a height above {@link base}. */
  hashAt(height: number): Uint8Array | undefined
  /** The chain has the blocks up to this height. */
  readonly base: number
}

/**
 * Follows an archive's headers back from the confirmed state to a block that the chain has; undefined if one
 * is missing. Each has the hash that its successor names, so no archive can make the way longer.
 */
export async function traceBack(
  { confirmed, blocks }: RootedQueue,
  chain: AuditedChain,
  sources: Pick<Sources, 'header'>,
): Promise<Trace | undefined> {
  const before = createHashes()
  let hash = confirmed.headerHash
  let base = chain.heightOf(hash)
  while (base === undefined) {
    const header = await headerOf(hash, sources)
    if (header === undefined) return undefined
    before.push(hash)
    hash = header.prevHeaderHash
    base = chain.heightOf(hash)
  }
  const [first, merged] = [base, base + before.count]
  return {
    base,
    height: merged + blocks.length,
    hashAt(height) {
      if (height <= first) return undefined
      return height <= merged ? before.at(merged - height) : blocks[height - merged - 1]?.headerHash
    },
  }
}

export async function headerOf(
  hash: Uint8Array,
  { header }: Pick<Sources, 'header'>,
): Promise<AuditedHeader | undefined> {
  const named = await header(hash)
  if (named === undefined || !equalBytes(blake2b224(named.header), hash)) return undefined
  try {
    return readHeader(named.header)
  } catch (error) {
    // Layer 1 vouches for the hash of bytes that are no header.
    reasonOf(error)
    return undefined
  }
}
