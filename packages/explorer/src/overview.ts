import { toHex } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import type { ExplorerReads, TimedBlock } from '@ratatosk/ports'
import { unlessItFails } from './errors.js'
import type { ExplorerOptions } from './options.js'
import type { OverviewAnswer } from './schemas/answers.js'

const maxMempool = 20_000
/** Heights that are summed at a time. */
const range = 1_000n
/** How long layer 1 or the queue may take, in milliseconds; the answer is then without it. */
const timeoutMs = 1_000
/** How long readers share what takes longer the more there is, in milliseconds: queue and totals. */
const freshMs = 2_000

type Totals = OverviewAnswer['blocks']

/** Makes the body of `GET /explorer/overview`. */
export function overviewAnswer(options: ExplorerOptions): () => Promise<OverviewAnswer> {
  const { reads, ledger, queue, layer1, sequencer, node, maturityWindowMs, clock = Date.now } = options
  const readTotals = blockTotals(reads)
  const totals = shareAnswers<Awaited<ReturnType<typeof readTotals>>>(freshMs)
  const waits = shareAnswers<Awaited<ReturnType<typeof queue.waiting>>>(freshMs)

  return async () => {
    const [waiting, mempool, blocks, tip, wallet, lease] = await Promise.all([
      unlessItFails(
        waits('', () => queue.waiting()),
        timeoutMs,
      ),
      ledger.mempool(maxMempool),
      totals('', readTotals),
      unlessItFails(layer1?.tip(), timeoutMs),
      unlessItFails(layer1?.wallet(), timeoutMs),
      sequencer?.(),
    ])
    const { newest, committed, merged } = blocks
    const lastCommit = committed?.committedAt
    const lastMerge = merged?.mergedAt
    return {
      at: new Date(clock()).toISOString(),
      ...node,
      ...(maturityWindowMs !== undefined && { maturityWindowMs }),
      ...(waiting && {
        queue: {
          transactions: waiting.transactions,
          bytes: waiting.bytes,
          ...(waiting.oldestAt && { oldestAt: waiting.oldestAt.toISOString() }),
        },
      }),
      mempool: { ...mempool, more: mempool.transactions >= maxMempool },
      blocks: blocks.totals,
      ...(newest && { newestHeight: Number(newest.height) }),
      ...(lastCommit && { lastCommitAt: lastCommit.toISOString() }),
      ...(lastMerge && { lastMergeAt: lastMerge.toISOString() }),
      ...(lease && { sequencer: { holder: lease.holder, expiresAt: lease.expiresAt.toISOString() } }),
      ...(tip && { layer1: { height: tip.height, slot: String(tip.slot), at: tip.at.toISOString() } }),
      ...(wallet && { wallet: { address: wallet.address, lovelace: String(wallet.lovelace) } }),
    }
  }
}

const nothing = (): Totals => ({
  built: { blocks: 0, transactions: 0 },
  submitted: { blocks: 0, transactions: 0 },
  committed: { blocks: 0, transactions: 0 },
  mature: { blocks: 0, transactions: 0 },
  merged: { blocks: 0, transactions: 0 },
})

/** The sums so far: all blocks up to a height, which are merged. */
interface Summed {
  readonly height: bigint
  readonly headerHash: string
  readonly merged: Totals['merged']
}

/** Sums blocks by state. Merged blocks stay as they are, so ranges of them are summed once. */
function blockTotals(reads: ExplorerReads) {
  let summed: Summed | undefined

  /** The stored sums, unless the ledger was reset. */
  async function start(): Promise<Summed | undefined> {
    const block = summed && (await reads.block(summed.height))
    return block?.state === 'merged' && toHex(block.headerHash) === summed?.headerHash ? summed : undefined
  }

  return async () => {
    const [newest] = await reads.blocks({ limit: 1 })
    const totals = nothing()
    if (newest === undefined) return { totals, newest, committed: undefined, merged: undefined }
    const known = await start()
    totals.merged = { ...(known?.merged ?? totals.merged) }
    let areMerged = true
    for (let from = known?.height ?? 0n; from < newest.height; from += range) {
      // Not those that are built meanwhile: the heights below count from the newest one.
      const found = await reads.totals(from, from + range < newest.height ? from + range : newest.height)
      for (const { state, blocks, transactions } of found) {
        totals[state].blocks += blocks
        totals[state].transactions += transactions
      }
      areMerged &&= BigInt(totals.merged.blocks) === from + range
      const last = areMerged ? await reads.block(from + range) : undefined
      if (last?.state === 'merged')
        summed = { height: last.height, headerHash: toHex(last.headerHash), merged: { ...totals.merged } }
    }
    const notMerged =
      totals.built.blocks + totals.submitted.blocks + totals.committed.blocks + totals.mature.blocks
    const notCommitted = totals.built.blocks + totals.submitted.blocks
    const at = (blocks: number): Promise<TimedBlock | undefined> =>
      reads.block(newest.height - BigInt(blocks))
    const [committed, merged] = await Promise.all([at(notCommitted), at(notMerged)])
    return { totals, newest, committed, merged }
  }
}
