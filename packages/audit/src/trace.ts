import { equalBytes } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { type AuditedHeader, blake2b224, createHashes, readHeader } from './header.js'
import type { Sources } from './sources.js'
import { reasonOf } from './transaction.js'
import type { NamedHeader, QueueReading } from './types.js'

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

/** How much of an archive is read while a block is judged: no more is asked for beyond either. */
const most = { blocks: 8, bytes: 16 << 20 }

/** The header that an archive has at a height, and the body of the block that belongs there. */
interface ArchivedBlock {
  readonly header: Promise<NamedHeader | undefined>
  readonly body: Promise<Uint8Array | undefined>
}

/**
 * The blocks of a trace in an archive, in order. Header and body are asked for at once, and the next ones
 * while the caller judges; one body at a time is on its way, so that an archive fills no memory.
 */
export async function* readAhead(
  trace: Trace,
  from: number,
  { header, body }: Pick<Sources, 'header' | 'body'>,
  signal: AbortSignal,
): AsyncGenerator<ArchivedBlock, void> {
  const ahead: (ArchivedBlock & { readonly length: Promise<number> })[] = []
  const stop = new AbortController()
  // One for all questions: Node 20 keeps what hangs on a signal for as long as the signal lives.
  const until = AbortSignal.any([signal, stop.signal])
  let next = from
  let bytes = 0
  let isReading = false

  function fill(): void {
    const hash = trace.hashAt(next)
    if (isReading || hash === undefined || ahead.length >= most.blocks || bytes >= most.bytes) return
    isReading = true
    const block = { header: header(next++, until), body: body(hash, until) }
    const length = Promise.allSettled([block.body, block.header]).then(([read, named]) => {
      isReading = false
      const found = read.status === 'fulfilled' ? (read.value?.length ?? 0) : 0
      bytes += found
      // After a failure, nothing more is asked for.
      if (read.status === 'fulfilled' && named.status === 'fulfilled') fill()
      return found
    })
    ahead.push({ ...block, length })
  }

  try {
    for (;;) {
      if (ahead.length === 0) fill()
      const block = ahead[0]
      if (block === undefined) return
      const length = await block.length
      bytes -= length
      ahead.shift()
      fill()
      yield block
    }
  } finally {
    stop.abort()
  }
}
