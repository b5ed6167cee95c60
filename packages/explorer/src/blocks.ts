import { decodeHeader, type Header } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { createPause } from '@ratatosk/chain-apis'
import { decodeTransaction, effects } from '@ratatosk/ledger'
import type { TimedBlock } from '@ratatosk/ports'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { ExplorerBusyError, NotHereError } from './errors.js'
import { feeOf } from './fields.js'
import type { ExplorerLedger, ExplorerOptions } from './options.js'
import type { BlocksPart, RequestedBlock, TransactionsPart } from './parameters.js'
import type { BlocksAnswer, ExplorerBlock, ExplorerBlockAnswer } from './schemas/answers.js'

const step = 500
/** Transactions that one answer reads to sum blocks; what is left is summed by the next ones. */
const budget = 10_000
const maxSums = 10_000
/** Blocks that are summed at the same time, for all readers; lists that make sums at the same time. */
const maxSumming = 2
/** Blocks, and lists of blocks, that are read at the same time; answers are shared before. */
const maxReading = 4
/** Reads, and sums, that wait for that; further ones are refused. */
const maxWaiting = 32

interface Sums {
  readonly bytes: number
  readonly fees: bigint
}

export interface ShownBlocks {
  /** @throws ExplorerBusyError */
  list(part: BlocksPart): Promise<BlocksAnswer>
  /** @throws NotHereError, ExplorerBusyError */
  details(block: RequestedBlock, part: TransactionsPart): Promise<ExplorerBlockAnswer>
  /** Without sums. */
  shown(block: TimedBlock): ExplorerBlock
}

/** Answers about blocks. The sums of a block never change, so each is made once, also for readers at once. */
export function blockAnswers({
  reads,
  ledger,
  maturityWindowMs,
}: Pick<ExplorerOptions, 'reads' | 'ledger' | 'maturityWindowMs'>): ShownBlocks {
  const summing = turns(maxSumming)
  const sums = new LRUCache<string, Sums, TimedBlock>({
    max: maxSums,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context }) => summing.take(() => sumsOf(ledger, context)),
  })
  const keyOf = ({ headerHash }: TimedBlock) => toHex(headerHash)
  const sum = (block: TimedBlock) => sums.fetch(keyOf(block), { context: block })

  // Apart from the sums, for which reads of what is summed need not wait.
  const reading = turns(maxReading)
  const readingLists = turns(maxReading)
  const summingLists = turns(maxSumming)

  const shown = (block: TimedBlock): ExplorerBlock => blockJson(block, maturityWindowMs)
  const withSums = (block: TimedBlock, known: Sums | undefined): ExplorerBlock => ({
    ...shown(block),
    ...(known && { bytes: known.bytes, fees: String(known.fees) }),
  })

  /** Adds the sums that are known; makes others while the budget lasts and few are made for other readers. */
  async function withNewSums(blocks: readonly TimedBlock[]): Promise<ExplorerBlock[]> {
    let left = budget
    const answers: ExplorerBlock[] = []
    for (const block of blocks) {
      let known = sums.get(keyOf(block))
      // The first one however many transactions it has.
      const isInBudget = left === budget || block.transactions <= left
      if (known === undefined && block.state !== 'removed' && isInBudget && !summing.isBusy()) {
        left -= block.transactions
        known = await sum(block)
      }
      answers.push(withSums(block, known))
    }
    return answers
  }

  async function list({ before, limit }: BlocksPart): Promise<BlocksAnswer> {
    // One more shows whether there is a next part.
    const found = await readingLists.take(() =>
      reads.blocks({ ...(before !== undefined && { before }), limit: limit + 1 }),
    )
    const shownBlocks = found.slice(0, limit)
    const blocks = summingLists.isBusy()
      ? shownBlocks.map((block) => withSums(block, sums.get(keyOf(block))))
      : await summingLists.take(() => withNewSums(shownBlocks))
    const last = blocks.at(-1)
    return { blocks, ...(found.length > limit && last && { next: last.height }) }
  }

  async function details(
    { id, text }: RequestedBlock,
    { offset, limit }: TransactionsPart,
  ): Promise<ExplorerBlockAnswer> {
    const found = await reading.take(() => reads.block(id))
    if (found === undefined)
      throw new NotHereError(text, 'Heights start at 1; /explorer/blocks lists what there is')
    const known = found.state === 'removed' ? sums.get(keyOf(found)) : await sum(found)
    const transactions = await reading.take(() => transactionsOf(found.headerHash, { offset, limit }))
    const header = headerJson(decodeHeader(found.header))
    return { block: withSums(found, known), header, transactions, offset }
  }

  async function transactionsOf(
    headerHash: Uint8Array,
    part: TransactionsPart,
  ): Promise<ExplorerBlockAnswer['transactions']> {
    const transactions: ExplorerBlockAnswer['transactions'] = []
    const pause = createPause()
    for (const { cbor } of await ledger.transactionsOf(headerHash, part)) {
      transactions.push(transactionJson(cbor))
      await pause()
    }
    return transactions
  }

  return { shown, list, details }
}

/** Runs a few tasks at the same time, and refuses those beyond the ones that may wait. */
function turns(atOnce: number) {
  const limit = pLimit(atOnce)
  return {
    /** Whether the next task would wait. */
    isBusy: () => limit.activeCount + limit.pendingCount >= atOnce,
    /** @throws ExplorerBusyError */
    async take<T>(task: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= maxWaiting) throw new ExplorerBusyError()
      return limit(task)
    },
  }
}

/** Undefined if the block is removed meanwhile. */
async function sumsOf(ledger: ExplorerLedger, block: TimedBlock): Promise<Sums | undefined> {
  const pause = createPause()
  let bytes = 0
  let fees = 0n
  for (let offset = 0; offset < block.transactions; offset += step) {
    const part = await ledger.transactionsOf(block.headerHash, { offset, limit: step })
    if (part.length === 0) return undefined
    for (const { cbor } of part) {
      bytes += cbor.length
      fees += feeOf(cbor) ?? 0n
      await pause()
    }
  }
  return { bytes, fees }
}

function blockJson(block: TimedBlock, maturityWindowMs: number | undefined): ExplorerBlock {
  const { mergeTransactionId, submittedAt, committedAt, maturedAt, mergedAt, removedAt } = block
  const commitFee = block.commitTransaction ? feeOf(block.commitTransaction) : undefined
  const end = Number(block.endTime)
  return {
    height: Number(block.height),
    headerHash: toHex(block.headerHash),
    state: block.state,
    transactions: block.transactions,
    endTime: new Date(end).toISOString(),
    ...(maturityWindowMs !== undefined && { maturesAt: new Date(end + maturityWindowMs).toISOString() }),
    times: {
      built: block.builtAt.toISOString(),
      ...(submittedAt && { submitted: submittedAt.toISOString() }),
      ...(committedAt && { committed: committedAt.toISOString() }),
      ...(maturedAt && { mature: maturedAt.toISOString() }),
      ...(mergedAt && { merged: mergedAt.toISOString() }),
      ...(removedAt && { removed: removedAt.toISOString() }),
    },
    ...(block.commitTransactionId && { commitTxHash: toHex(block.commitTransactionId) }),
    ...(commitFee !== undefined && { commitFee: String(commitFee) }),
    ...(mergeTransactionId && { mergeTxHash: toHex(mergeTransactionId) }),
  }
}

function transactionJson(cbor: Uint8Array): ExplorerBlockAnswer['transactions'][number] {
  const transaction = decodeTransaction(cbor)
  const { id, body, witnesses, isValid } = transaction
  const { spent, produced } = effects(transaction)
  return {
    hash: toHex(id),
    bytes: cbor.length,
    fee: String(body.fee),
    inputs: spent.length,
    outputs: produced.length,
    redeemers: witnesses.redeemers.length,
    valid: isValid,
  }
}

function headerJson(header: Header): ExplorerBlockAnswer['header'] {
  return {
    utxosRootBefore: toHex(header.prevUtxosRoot),
    utxosRootAfter: toHex(header.utxosRoot),
    transactionsRoot: toHex(header.transactionsRoot),
    depositsRoot: toHex(header.depositsRoot),
    withdrawalsRoot: toHex(header.withdrawalsRoot),
    startTime: new Date(Number(header.startTime)).toISOString(),
    endTime: new Date(Number(header.endTime)).toISOString(),
    previousHeaderHash: toHex(header.prevHeaderHash),
    operator: toHex(header.operatorVkey),
    blockVersion: Number(header.blockVersion),
  }
}
