import { setTimeout as pause } from 'node:timers/promises'
import {
  type BlockBody,
  BlockError,
  creditFees,
  type Deposit,
  decodeHeader,
  depositsRoot,
  derive,
  encodeBlockBodyInTurns,
  type Header,
  isBlockError,
  isInvalidBlock,
  type NewArchivedBlock,
  type RightBody,
  readEncodedBody,
  withFeeOutput,
} from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { movedParts } from '@ratatosk/protocol/fraud'
import { type BodyShare, piecesWithin, takeDerivation } from './body-budget.js'
import type { HeaderPath, MissingBlock } from './header-path.js'
import type { LedgerState } from './ledger-state.js'
import { childOf } from './peer-request.js'
import type { Peers } from './peers.js'
import type { FollowerOptions } from './types.js'

/** Blocks per archived batch; fewer than the ledger state can revert, because a crash may lose a batch. */
const maxBatchBlocks = 50
/** Bytes of bodies at which a batch is archived early. */
const maxBatchBytes = 8 * 1024 * 1024
/** Milliseconds after which a batch is archived early. */
const maxBatchMs = 1000

type FollowerPart =
  | 'archive'
  | 'evidence'
  | 'unavailable'
  | 'available'
  | 'rules'
  | 'events'
  | 'concurrency'
  | 'log'

interface CatchUpOptions extends Pick<FollowerOptions, FollowerPart> {
  readonly state: LedgerState
  readonly peers: Peers
  /** Whether a block is in the state queue now, neither merged nor removed. */
  readonly isWaiting: (headerHash: Uint8Array, signal: AbortSignal) => Promise<boolean>
  /** The first missing blocks, which are on the state already; those behind them are added. */
  readonly passed: PassedBlock[]
  /** A block that is passed without judging it. */
  readonly unprovable: Uint8Array | undefined
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
  /** It is not known yet which deposits this block must credit. */
  | { readonly kind: 'unread'; readonly height: bigint }
  /** This block has left the state queue, so that its deposits may be spent. */
  | { readonly kind: 'moved'; readonly height: bigint }
  /** This block breaks a rule. Those before it are archived, or passed. */
  | {
      readonly kind: 'invalid'
      readonly block: NewArchivedBlock
      readonly body: BlockBody
      readonly error: BlockError
    }

interface PlacedBlock extends MissingBlock {
  readonly height: bigint
}

/** The deposits that layer 1 has for a block; undefined for one that is merged, or without a bridge. */
type DueDeposits = readonly Deposit[] | undefined

interface Download {
  /** Says that the blocks before it are applied: only then can its body be verified. */
  begin(due?: DueDeposits): void
  readonly verified: Promise<RightBody | undefined>
}

/** Valid blocks that wait to be archived together. */
interface Batch {
  readonly isEmpty: boolean
  /** Milliseconds until it is archived. */
  readonly restMs: number
  /** Adds the next block, and archives all if that is due. */
  add(block: NewArchivedBlock, transactions: number): Promise<void>
  /** Archives all. */
  flush(): Promise<void>
}

function createBatch(
  { archive, log, archived }: Pick<CatchUpOptions, 'archive' | 'log' | 'archived'>,
  target: number,
): Batch {
  let batch: NewArchivedBlock[] = []
  /** On the clock of `performance.now()`. */
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

  return {
    get isEmpty() {
      return batch.length === 0
    },
    get restMs() {
      return Math.max(0, dueAt - performance.now())
    },
    async add(block, count) {
      if (batch.length === 0) dueAt = performance.now() + maxBatchMs
      batch.push(block)
      transactions += count
      bytes += block.body.length
      const isDue = performance.now() >= dueAt
      if (isDue || batch.length >= maxBatchBlocks || bytes >= maxBatchBytes) await flush()
    },
    flush,
  }
}

/**
 * Archives a path in batches: concurrent requests, judged in order. Behind an unprovable block, judges only.
 */
export async function catchUp(
  { fork, missing, mergedHeight }: HeaderPath,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<CaughtUp> {
  const { state, evidence, rules, events, concurrency = 4, passed, unprovable, log, isWaiting } = options
  const downloads = childOf(signal)
  const waiting = missing.slice(passed.length)
  const first = (fork?.height ?? 0n) + BigInt(passed.length) + 1n
  const batch = createBatch(options, Number(first) + waiting.length - 1)
  const coming: Download[] = []

  /** Archives the batch meanwhile if that takes long. */
  async function resultOf({ verified }: Download): Promise<RightBody | undefined> {
    if (batch.isEmpty) return verified
    const timer = childOf(downloads.signal)
    const due = pause(batch.restMs, 'due', { signal: timer.signal }).catch(() => 'aborted')
    try {
      if ((await Promise.race([verified, due])) === 'due') await batch.flush()
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
      const height = first + BigInt(index)
      const header = decodeHeader(block.header)
      const merged = height <= mergedHeight
      const isDue = !merged && rules.bridge !== undefined
      const due = isDue ? await events?.between(header.startTime, header.endTime, signal) : undefined
      if (due === 'not read yet') return { kind: 'unread', height }
      for (const next of waiting.slice(index + coming.length, index + concurrency)) {
        const heightOfNext = first + BigInt(index + coming.length)
        coming.push(startDownload({ ...next, height: heightOfNext }, options, downloads.signal))
      }
      const download = coming.shift()
      download?.begin(due)
      const verified = download && (await resultOf(download))
      if (verified === undefined) return { kind: 'missing', height }
      const { body } = verified
      const archivable = { ...block, height, merged, body: await encodeBlockBodyInTurns(body) }
      const isUnprovable = unprovable !== undefined && equalBytes(unprovable, block.headerHash)
      try {
        if (isUnprovable) await state.pass(body, header)
        else await state.apply(verified, header, due)
      } catch (error) {
        if (!isInvalidBlock(error)) throw error
        // The deposits of a block that was merged meanwhile may be spent.
        if (due !== undefined && !(await isWaiting(block.headerHash, signal)))
          return { kind: 'moved', height }
        return { kind: 'invalid', block: archivable, body, error }
      }
      if (isUnprovable)
        log.warn(
          { height: Number(height) },
          'Judging the blocks behind an invalid block that nothing removes',
        )
      if (isUnprovable || passed.length > 0) {
        // Its operator need not serve it again after a restart. An invalid block is kept already.
        if (!isUnprovable) await keepBody(block.headerHash, archivable.body)
        passed.push({ headerHash: block.headerHash, root: header.utxosRoot })
      } else await batch.add(archivable, body.transactions.length)
    }
    return { kind: 'complete' }
  } finally {
    downloads.end()
    for (const { begin } of coming) begin()
    await batch.flush()
  }
}

function startDownload(block: PlacedBlock, options: CatchUpOptions, signal: AbortSignal): Download {
  let begin: Download['begin'] = () => undefined
  const begun = new Promise<DueDeposits>((resolve) => {
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
  { peers, evidence, unavailable, available, state, rules: { bridge, networkId } }: CatchUpOptions,
  share: BodyShare,
  begun: Promise<DueDeposits>,
  signal: AbortSignal,
): Promise<RightBody | undefined> {
  const header = decodeHeader(encoded)

  async function verify(given: BlockBody): Promise<RightBody> {
    await begun
    signal.throwIfAborted()
    return state.verify(given, header)
  }

  /** The body of transactions that the operator has shown, with the deposits of layer 1 and the fees. */
  async function verifyShown(transactions: readonly Uint8Array[]): Promise<RightBody> {
    const due = (await begun) ?? []
    await takeDerivation({ transactions, deposits: due }, share, signal, true)
    const deriveWith = (credited: readonly Deposit[]) =>
      derive({ transactions, deposits: credited }, { read: movedParts, bridge })
    let derivation = await deriveWith(due)
    const fees = bridge && creditFees(derivation, { ...header, networkId })
    const right = withFeeOutput(due, fees)
    const deposits = await committedOf([right, due, []], header)
    if (deposits !== right) derivation = await deriveWith(deposits)
    const body = { transactions, ...(await derivation.diffInTurns()), deposits }
    return verify(body).catch((cause: unknown) => {
      if (!isBlockError(cause)) throw cause
      const message = `The chunks that the operator has shown are not those of the block: ${cause.message}`
      return { body, error: new BlockError('BLOCK_INVALID', message, { cause }) }
    })
  }

  /** Who commits an invalid block need not serve its body twice. A kept one may be damaged. */
  async function kept(): Promise<BlockBody | undefined> {
    if (evidence === undefined) return undefined
    try {
      const pieces = piecesWithin(evidence.body(headerHash), share, signal)
      const body = await readEncodedBody(pieces, Number.POSITIVE_INFINITY)
      await takeDerivation(body, share, signal, bridge !== undefined)
      return body
    } catch {
      return undefined
    }
  }

  const served = await peers.askBody({ headerHash, share, signal, kept, check: verify })
  if (served !== undefined) available?.(headerHash)
  if (served !== undefined || unavailable === undefined) return served
  const shown = await unavailable({ headerHash, height, header }, signal)
  return shown && verifyShown(shown)
}

/**
 * The credits that a header commits to; the first if it is none of them. No claim reaches false ones: other
 * lies are found by the maps that follow from these.
 */
async function committedOf(
  lists: readonly [readonly Deposit[], ...(readonly Deposit[])[]],
  header: Pick<Header, 'depositsRoot'>,
): Promise<readonly Deposit[]> {
  for (const list of lists) if (equalBytes(await depositsRoot(list), header.depositsRoot)) return list
  return lists[0]
}
