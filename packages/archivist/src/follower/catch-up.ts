import { decodeHeader } from '@ratatosk/contracts'
import { toHex } from '@ratatosk/ledger'
import { encodeBlockBody } from '../body/encode.js'
import { BlockError } from '../body/errors.js'
import type { BlockDiff } from '../body/types.js'
import { verifyBody } from '../body/verify.js'
import { childOf } from './child-controller.js'
import type { HeaderPath, MissingBlock } from './header-path.js'
import type { OutputTrie } from './output-trie.js'
import type { Peers } from './peers.js'
import type { Log, NewArchivedBlock, WritableArchive } from './types.js'

/** Blocks that are archived at a time; fewer than the trie remembers, where a crash interrupts it. */
const mostBlocks = 50
/** Bytes of bodies after which a batch is not waited to be full. */
const enoughBytes = 8 * 1024 * 1024

export interface CatchUpOptions {
  readonly archive: WritableArchive
  readonly trie: OutputTrie
  readonly peers: Peers
  readonly concurrency: number
  readonly log: Log
  /** Told after each batch. */
  readonly archived: (height: bigint) => void
}

/** A body that fits its header, whoever sent it. */
interface FittingBody {
  readonly bytes: Uint8Array
  readonly diff: BlockDiff
  readonly transactions: number
}

/**
 * Archives the blocks of a path, several bodies on their way at a time, in batches.
 *
 * @returns the block of which no peer has the body now; undefined when all is done
 * @throws {BlockError} `BLOCK_INVALID` where a block cannot be accepted; those before it are archived
 */
export async function catchUp(
  { fork, missing, mergedHeight }: HeaderPath,
  { archive, trie, peers, concurrency, log, archived }: CatchUpOptions,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const downloads = childOf(signal)
  const first = (fork?.height ?? 0n) + 1n
  const target = Number(first) + missing.length - 1
  const coming: Promise<FittingBody | BlockError | undefined>[] = []
  let batch: NewArchivedBlock[] = []
  let transactions = 0
  let bytes = 0

  async function flush(): Promise<void> {
    const blocks = batch
    const newest = blocks.at(-1)
    if (!newest) return
    batch = []
    await archive.put(blocks)
    archived(newest.height)
    log.info(
      { height: Number(newest.height), target, blocks: blocks.length, transactions, bytes },
      'Archived blocks',
    )
    transactions = 0
    bytes = 0
  }

  try {
    for (const [place, block] of missing.entries()) {
      for (const next of missing.slice(place + coming.length, place + concurrency)) {
        const body = fittingBody(next, peers, downloads.signal)
        // It may fail before it is waited for, or after nobody waits any more.
        body.catch(() => undefined)
        coming.push(body)
      }
      const height = first + BigInt(place)
      const body = await coming.shift()
      if (body === undefined) return height
      try {
        if (body instanceof BlockError) throw body
        trie.apply(body.diff, decodeHeader(block.header))
      } catch (error) {
        throw invalid(error, block, height)
      }
      batch.push({ ...block, height, merged: height <= mergedHeight, body: body.bytes })
      transactions += body.transactions
      bytes += body.bytes.length
      if (batch.length >= mostBlocks || bytes >= enoughBytes) await flush()
    }
    return undefined
  } finally {
    downloads.end()
    await flush()
  }
}

function fittingBody(
  { headerHash, header }: MissingBlock,
  peers: Peers,
  signal: AbortSignal,
): Promise<FittingBody | BlockError | undefined> {
  return peers.ask(async (peer) => {
    const body = await peer.body(headerHash, signal)
    if (body === undefined) return undefined
    try {
      await verifyBody(body, decodeHeader(header))
    } catch (error) {
      // The header's own transactions: whoever sends them is not to blame for them.
      if (isInvalidBlock(error)) return error
      throw error
    }
    return { bytes: encodeBlockBody(body), diff: body, transactions: body.transactions.length }
  }, signal)
}

function invalid(error: unknown, { headerHash }: MissingBlock, height: bigint): unknown {
  if (!isInvalidBlock(error)) return error
  const message = `Block ${height} (${toHex(headerHash)}) is invalid. ${error.message}`
  return new BlockError('BLOCK_INVALID', message, { cause: error })
}

function isInvalidBlock(error: unknown): error is BlockError {
  return error instanceof BlockError && error.code === 'BLOCK_INVALID'
}
