import { setTimeout as pause } from 'node:timers/promises'
import {
  type BlockBody,
  BlockError,
  decodeHeader,
  derive,
  type EncodedBody,
  encodeBlockBodyInTurns,
  isBlockError,
  isInvalidBlock,
  type NewArchivedBlock,
  readEncodedBody,
  verifyHeader,
  type WritableArchive,
} from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { movedParts } from '@ratatosk/fraud'
import type { Log } from '@ratatosk/ports'
import { type BodyShare, piecesWithin, takeDerivation } from './body-budget.js'
import { childOf } from './child-controller.js'
import type { HeaderPath, MissingBlock } from './header-path.js'
import type { LedgerState } from './ledger-state.js'
import type { Peers } from './peers.js'
import { firstReading, type RightBody, verifyReadings } from './readings.js'
import type { FollowerOptions } from './types.js'

/** Blocks per archived batch; fewer than the ledger state can revert, because a crash may lose a batch. */
const maxBatchBlocks = 50
/** Bytes of bodies at which a batch is archived early. */
const maxBatchBytes = 8 * 1024 * 1024
/** Milliseconds after which a batch is archived early. */
const maxBatchMs = 1000

interface CatchUpOptions {
  readonly archive: WritableArchive
  readonly state: LedgerState
  readonly peers: Peers
  /** Has the bodies of blocks that were found invalid, or are behind one. */
  readonly evidence: FollowerOptions['evidence']
  readonly unavailable: FollowerOptions['unavailable']
  readonly concurrency: number
  /** The first missing blocks, which are on the state already; those behind them are added. */
  readonly passed: PassedBlock[]
  /** A block that is passed without judging it. */
  readonly unprovable: Uint8Array | undefined
  readonly log: Log
  /** Called after each batch. */
  readonly archived: (height: bigint) => void
}

/** A block that is on the state and not in the archive: unprovable, or behind one that is. */
export interface PassedBlock {
  readonly headerHash: Uint8Array
  /** Of the unspent outputs after it. */
  readonly root: Uint8Array
}

type CaughtUp =
  | { readonly kind: 'complete' }
  /** No peer has the body of this block now. */
  | { readonly kind: 'missing'; readonly height: bigint }
  /** This block breaks a rule. Those before it are archived, or passed. */
  | {
      readonly kind: 'invalid'
      readonly block: NewArchivedBlock
      readonly body: BlockBody
      readonly error: BlockError
    }

/** A body that belongs to its header. `error`: why the block cannot be applied, from any peer. */
interface VerifiedBody extends Pick<RightBody, 'body' | 'outputs'> {
  readonly bytes: Uint8Array
  readonly error?: unknown
}

interface PlacedBlock extends MissingBlock {
  readonly height: bigint
}

interface Download {
  /** Says that the blocks before it are applied: only then can its body be verified. */
  begin(): void
  readonly verified: Promise<VerifiedBody | undefined>
}

/**
 * Archives a path in batches: concurrent requests, judged in order. Behind an unprovable block, judges only.
 */
export async function catchUp(
  { fork, missing, mergedHeight }: HeaderPath,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<CaughtUp> {
  const { archive, state, evidence, concurrency, passed, unprovable, log, archived } = options
  const downloads = childOf(signal)
  const waiting = missing.slice(passed.length)
  const first = (fork?.height ?? 0n) + BigInt(passed.length) + 1n
  const target = Number(first) + waiting.length - 1
  const coming: Download[] = []
  let batch: NewArchivedBlock[] = []
  /** When the batch is archived, on the clock of `performance.now()`. */
  let dueAt = 0
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

  /** Archives the batch meanwhile if that takes long. */
  async function resultOf({ verified }: Download): Promise<VerifiedBody | undefined> {
    if (batch.length === 0) return verified
    const timer = childOf(downloads.signal)
    const restMs = Math.max(0, dueAt - performance.now())
    const due = pause(restMs, 'due', { signal: timer.signal }).catch(() => 'aborted')
    try {
      if ((await Promise.race([verified, due])) === 'due') await flush()
      return await verified
    } finally {
      timer.end()
    }
  }

  async function keepBody(headerHash: Uint8Array, body: Uint8Array): Promise<void> {
    await evidence?.keepBody(headerHash, body).catch((err: unknown) => {
      log.error({ err }, 'The body of a block behind an unprovable one cannot be kept')
    })
  }

  try {
    for (const [index, block] of waiting.entries()) {
      for (const next of waiting.slice(index + coming.length, index + concurrency)) {
        const height = first + BigInt(index + coming.length)
        coming.push(startDownload({ ...next, height }, options, downloads.signal))
      }
      const height = first + BigInt(index)
      const download = coming.shift()
      download?.begin()
      const verified = download && (await resultOf(download))
      if (verified === undefined) return { kind: 'missing', height }
      const archivable = { ...block, height, merged: height <= mergedHeight, body: verified.bytes }
      const header = decodeHeader(block.header)
      const isUnprovable = unprovable !== undefined && equalBytes(unprovable, block.headerHash)
      try {
        if (isUnprovable) await state.pass(verified.body, header)
        else if (verified.error !== undefined) throw verified.error
        else await state.apply(verified, header)
      } catch (error) {
        if (!isInvalidBlock(error)) throw error
        return { kind: 'invalid', block: archivable, body: verified.body, error }
      }
      if (isUnprovable)
        log.warn(
          { height: Number(height) },
          'Judging the blocks behind an invalid block that nothing removes',
        )
      if (isUnprovable || passed.length > 0) {
        // Its operator need not serve it again after a restart. An invalid block is kept already.
        if (!isUnprovable) await keepBody(block.headerHash, verified.bytes)
        passed.push({ headerHash: block.headerHash, root: header.utxosRoot })
        continue
      }
      if (batch.length === 0) dueAt = performance.now() + maxBatchMs
      batch.push(archivable)
      transactions += verified.body.transactions.length
      bytes += verified.bytes.length
      const isDue = performance.now() >= dueAt
      if (isDue || batch.length >= maxBatchBlocks || bytes >= maxBatchBytes) await flush()
    }
    return { kind: 'complete' }
  } finally {
    downloads.end()
    for (const { begin } of coming) begin()
    await flush()
  }
}

function startDownload(block: PlacedBlock, options: CatchUpOptions, signal: AbortSignal): Download {
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const share = options.peers.openShare()
  const verified = verifiedBody(block, options, share, begun, signal).finally(() => share.end())
  // It can reject before it is awaited, or when it is never awaited.
  verified.catch(() => undefined)
  return { begin, verified }
}

async function verifiedBody(
  { headerHash, height, header: encoded }: PlacedBlock,
  { peers, evidence, unavailable, state }: CatchUpOptions,
  share: BodyShare,
  begun: Promise<void>,
  signal: AbortSignal,
): Promise<VerifiedBody | undefined> {
  const header = decodeHeader(encoded)

  async function verify(given: BlockBody): Promise<VerifiedBody> {
    await begun
    signal.throwIfAborted()
    try {
      verifyHeader(header)
      state.assertFollows(header)
    } catch (error) {
      return withBytes({ body: await firstReading(given), error })
    }
    return withBytes(await verifyReadings(given, header, () => state.outputHash))
  }

  /** The body of transactions that the operator has shown. */
  async function verifyShown(transactions: readonly Uint8Array[]): Promise<VerifiedBody> {
    await takeDerivation({ transactions }, share, signal)
    const { diffInTurns } = await derive(transactions, movedParts)
    const body = { transactions, ...(await diffInTurns()) }
    return verify(body).catch((cause: unknown) => {
      if (!isBlockError(cause)) throw cause
      const message = `The chunks that the operator has shown are not those of the block: ${cause.message}`
      const error = new BlockError('BLOCK_INVALID', message, { cause })
      return withBytes({ body, error })
    })
  }

  // Who commits an invalid block need not serve its body twice.
  const kept = evidence && (await keptBody(evidence.body(headerHash), share, signal))
  if (kept !== undefined) {
    const verified = await verify(kept).catch(() => undefined)
    if (verified !== undefined) return verified
  }
  const served = await peers.askBody({ headerHash, share, signal, check: verify })
  if (served !== undefined || unavailable === undefined) return served
  const shown = await unavailable({ headerHash, height, header }, signal)
  return shown && verifyShown(shown)
}

/** A body with its encoding, which one that was sent has already. */
async function withBytes(verified: Omit<VerifiedBody, 'bytes'>): Promise<VerifiedBody> {
  const { body } = verified
  return { ...verified, bytes: isEncoded(body) ? body.bytes : await encodeBlockBodyInTurns(body) }
}

const isEncoded = (body: BlockBody): body is EncodedBody => 'bytes' in body

/** The body of a block that is not archived; undefined if it is not kept, or is damaged. */
async function keptBody(
  pieces: AsyncIterable<Uint8Array>,
  share: BodyShare,
  signal: AbortSignal,
): Promise<BlockBody | undefined> {
  try {
    const body = await readEncodedBody(piecesWithin(pieces, share, signal), Number.POSITIVE_INFINITY)
    await takeDerivation(body, share, signal)
    return body
  } catch {
    return undefined
  }
}
