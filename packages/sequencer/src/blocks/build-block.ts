import {
  type BlockInterval,
  blockVersion,
  countWithinChunks,
  type Deposit,
  encodedHeader,
  type FeeTarget,
  type Header,
  intervalOf,
  maxChunks,
  withFeeOutput,
} from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { decodeTransaction, profileLimits } from '@ratatosk/ledger'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import { commitBlock } from '@ratatosk/protocol'
import type { Block, DropReason, NewBlock, OrderedTransaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { type QueueView, recordArrivals, sendBuilt } from '../queue/reconcile.js'
import type { PaidRoots } from '../roots/index.js'
import {
  alignRoots,
  blockLine,
  creditedOf,
  freeRoots,
  orphanOf,
  realignRoots,
  reasonOf,
} from '../state/ledger-state.js'
import { readReferenceScripts } from '../state/queue-elements.js'
import { type BlockPlan, type NoPlan, planBlock } from './plan-block.js'

/** The outcome of an attempt to commit. */
export type Commitment =
  | {
      readonly kind: 'built'
      readonly block: Block
      /** Whether it has as many transactions as a block may have. */
      readonly isFull: boolean
      /** Fee of the commit transaction in lovelace. */
      readonly fee: bigint
    }
  | NoPlan
  | NoContent

/** Builds, stores and sends the next block. Until it is stored, a failure leaves no trace. */
export async function buildBlock(context: SequencerContext, view: QueueView): Promise<Commitment> {
  const startedAt = performance.now()
  const plan = await planBlock(context, view)
  if ('kind' in plan) return plan
  await alignRoots(context, view.local.newest)
  const stored = await fillAndStore(context, view, plan)
  if ('kind' in stored) return stored
  const { block, built, isFull } = stored
  if (await sendBuilt(context, 'commit', built, view.tip.slot)) {
    await context.store.blocks.setState([block.headerHash], 'submitted', context.lease)
    context.step('block-submitted')
  }
  // While layer 1 and the next block are waited for.
  freeRoots(context)
  const ms = Math.round(performance.now() - startedAt)
  context.log.info(...blockLine(block, `committed: ${block.transactions} transactions in ${ms} ms`))
  return { kind: 'built', block, isFull, fee: built.fee }
}

interface StoredBlock {
  readonly block: Block
  readonly built: BuiltTransaction
  readonly isFull: boolean
}

/** Meanwhile records which blocks before it enter the queue: their users need not wait until it is built. */
async function fillAndStore(
  context: SequencerContext,
  view: QueueView,
  plan: BlockPlan,
): Promise<StoredBlock | NoContent> {
  const done = new AbortController()
  // Failed or missed arrivals are left to the next reconciliation.
  const arrivals = recordArrivals(context, view, done.signal).catch(() => undefined)
  try {
    const times = { startTime: plan.tail.endTime, endTime: plan.times.endTime }
    const content = await fillBlock(context, times, plan.events.deposits, feesToOf(context, plan))
    return 'kind' in content ? content : await storeBlock(context, content, plan)
  } catch (error) {
    await realignRoots(context)
    throw error
  } finally {
    done.abort()
    await arrivals
  }
}

/** Whom the fees of a block are paid to: without a bridge, no one. */
function feesToOf({ contracts, operator }: SequencerContext, { tail }: BlockPlan): FeeTarget | undefined {
  if (contracts.bridge === undefined) return undefined
  const { hash } = operator.keys.payment
  return { prevHeaderHash: tail.hash, operatorVkey: hash, networkId: contracts.networkId }
}

async function storeBlock(
  context: SequencerContext,
  { transactions, isFull, roots }: BlockContent,
  { tail, registry, times: { slot, endTime }, events }: BlockPlan,
): Promise<StoredBlock> {
  const { store, operator, contracts, slots, signal } = context
  const header = encodedHeader({
    prevUtxosRoot: tail.utxosRoot,
    utxosRoot: roots.utxosRoot,
    transactionsRoot: roots.transactionsRoot,
    depositsRoot: roots.depositsRoot,
    withdrawalsRoot: roots.withdrawalsRoot,
    startTime: tail.endTime,
    endTime,
    prevHeaderHash: tail.hash,
    operatorVkey: operator.keys.payment.hash,
    blockVersion,
  })
  const queue = { roots: [tail.root], blocks: tail.block ? [tail.block] : [], strays: [] }
  const referenceScripts = await readReferenceScripts(context)
  const draft = commitBlock(contracts, {
    queue,
    registry,
    header: header.fields,
    headerHash: header.hash,
    slot,
    slots,
    referenceScripts,
    ...(events.newest && { events: [events.newest] }),
  })
  const built = await operator.build(draft, { signal })
  const block: NewBlock = {
    headerHash: header.hash,
    header: header.bytes,
    previousHeaderHash: tail.hash,
    utxosRoot: roots.utxosRoot,
    startTime: tail.endTime,
    endTime,
    firstSequence: transactions[0]?.sequence ?? 0n,
    lastSequence: transactions.at(-1)?.sequence ?? 0n,
    transactions: transactions.length,
    deposits: withFeeOutput(events.deposits, roots.fees && creditedOf(roots.fees)),
    commitTransaction: { id: built.id, cbor: built.bytes },
  }
  try {
    const stored = await store.blocks.build(block, context.lease)
    context.step('block-built')
    return { block: stored, built, isFull }
  } catch (error) {
    // If the block was stored after all, reconciliation finds it and the wallet adopts its transaction.
    operator.release(built.id)
    throw error
  }
}

/** Bytes of the transactions in one block at most: chunks that have one transaction are the longest. */
export const maxBlockBytes = maxChunks * profileLimits.transactionBytes

/** Transactions prepared at a time. Larger batches would block other requests to the roots' thread. */
const maxPrepared = 2500

/** How many transactions the mempool has, counted up to the most that makes a difference. */
export async function countWaiting({
  store,
  cache: { ahead },
  options: { commitAtTransactions, maxBlockTransactions },
}: SequencerContext): Promise<number> {
  const left = Math.max(commitAtTransactions, maxBlockTransactions) - ahead.length
  return ahead.length + (left < 1 ? 0 : await store.blocks.waiting(left, ahead.at(-1)?.sequence))
}

/** Prepares the roots for the oldest transactions. Returns whether transactions wait for a block. */
export async function prepareBlock(
  { store, roots, cache, options: { maxBlockTransactions, prepareAtTransactions } }: SequencerContext,
  waiting: number,
): Promise<boolean> {
  const { ahead } = cache
  const room = Math.min(maxBlockTransactions - ahead.length, maxPrepared)
  const wanted = ahead.length + prepareAtTransactions
  if (room < 1 || wanted > maxBlockTransactions) return false
  if (waiting < wanted) return waiting > 0
  const { added } = await oldestAfter(store, ahead, room)
  const prepared = await roots.prepare(
    added.map(({ cbor }) => cbor),
    ahead.length,
  )
  cache.ahead = prepared === 0 ? [] : [...ahead, ...added]
  return added.length > 0
}

/** The oldest transactions behind others. `isFull`: the next one does not fit, by its chunks. */
async function oldestAfter(
  { blocks }: SequencerContext['store'],
  ahead: readonly OrderedTransaction[],
  limit: number,
): Promise<{ readonly added: readonly OrderedTransaction[]; readonly isFull: boolean }> {
  if (limit < 1) return { added: [], isFull: false }
  const within = (transactions: readonly OrderedTransaction[]) =>
    countWithinChunks(transactions.map(({ cbor }) => cbor.length))
  // The last chunk may have room too, and one transaction more shows that the block is full.
  const bytes = (maxChunks + 2 - within(ahead).chunks) * profileLimits.transactionBytes
  const found = await blocks.oldest(limit, bytes, ahead.at(-1)?.sequence)
  const fitting = within([...ahead, ...found]).transactions - ahead.length
  return { added: found.slice(0, fitting), isFull: fitting < found.length }
}

/** The transactions of a block, at least one unless it credits deposits, and the roots after them. */
interface BlockContent {
  readonly transactions: readonly OrderedTransaction[]
  /** Whether a block may have no more of those that wait. */
  readonly isFull: boolean
  readonly roots: PaidRoots
}

/** Why a block has no content: the mempool is empty, or its oldest transaction has to wait. */
type NoContent = { readonly kind: 'nothing' } | { readonly kind: 'wait'; readonly reason: SequencerError }

/**
 * Applies the oldest transactions to the trie, without expired ones. One not yet valid ends it.
 *
 * @param feesTo whom their fees are paid to
 */
async function fillBlock(
  context: SequencerContext,
  times: Pick<Header, 'startTime' | 'endTime'>,
  deposits: readonly Deposit[],
  feesTo: FeeTarget | undefined,
): Promise<BlockContent | NoContent> {
  const { roots, slots, cache, options } = context
  const interval = intervalOf(times, slots)
  let limit = options.maxBlockTransactions
  let ahead = cache.takeAhead()
  for (;;) {
    const { added, isFull } = await oldestAfter(context.store, ahead, limit - ahead.length)
    const transactions = [...ahead, ...added]
    ahead = []
    if (transactions.length === 0 && deposits.length === 0) return { kind: 'nothing' }
    // An earlier version may have accepted them.
    const tooLong = transactions.filter(({ cbor }) => cbor.length > profileLimits.transactionBytes)
    if (tooLong.length > 0) {
      await drop(context, tooLong, lengthOf, 'are too long for a block')
      continue
    }
    const answer = await roots.applyWithin(
      transactions.map(({ cbor }) => cbor),
      interval,
      deposits,
      feesTo,
    )
    if ('utxosRoot' in answer) {
      context.step('roots-applied')
      const isLimited = transactions.length === options.maxBlockTransactions
      return { transactions, isFull: isFull || isLimited, roots: answer }
    }
    const expired = answer.expired.flatMap((position) => transactions[position] ?? [])
    if (expired.length > 0) await drop(context, expired, expiryAt(interval), 'have expired')
    else limit = answer.notBegun[0] ?? limit
    if (limit === 0) return { kind: 'wait', reason: notYetValid(transactions) }
  }
}

function notYetValid([first]: readonly OrderedTransaction[]): SequencerError {
  return new SequencerError(
    'SEQUENCER_NOT_YET_VALID',
    `The oldest transaction of the mempool, ${first && toHex(first.id)}, is valid only after ` +
      "the next block: try again later, and check this machine's clock",
  )
}

/** Drops transactions with their descendants. `what` completes the sentence "7 transactions …". */
async function drop(
  { store, lease, log, step }: SequencerContext,
  unfit: readonly OrderedTransaction[],
  reasonFor: (cbor: Uint8Array) => DropReason,
  what: string,
): Promise<void> {
  const reasons = new Map(unfit.map(({ id, cbor }) => [toHex(id), reasonFor(cbor)]))
  const dropped = await store.blocks.drop(reasons, orphanOf, lease)
  step('expired-dropped')
  log.warn(
    { unfit: unfit.length, dropped, transactions: unfit.slice(0, 10).map(({ id }) => toHex(id)) },
    `${unfit.length} transactions of the mempool ${what}: ` +
      `they and ${dropped - unfit.length} that depend on them are dead letters`,
  )
}

const expiryAt =
  ({ first }: BlockInterval) =>
  (cbor: Uint8Array): DropReason => {
    const { invalidHereafter } = decodeTransaction(cbor).body.validityInterval
    return reasonOf(
      'OutsideValidityIntervalUTxO',
      `The transaction was valid before slot ${invalidHereafter}, and no block took it in time: ` +
        `the next one begins with slot ${first}`,
      { invalidHereafter: String(invalidHereafter), slot: String(first) },
    )
  }

function lengthOf({ length }: Uint8Array): DropReason {
  const maximum = profileLimits.transactionBytes
  return reasonOf('TooManyBytes', `The transaction has ${length} bytes, at most ${maximum} are supported`, {
    part: 'transaction',
    bytes: String(length),
    maximum: String(maximum),
  })
}
