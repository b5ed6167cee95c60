import { blockVersion, encodedHeader, type FeeTarget, withFeeOutput } from '@ratatosk/block'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import { commitBlock } from '@ratatosk/protocol'
import type { Block, NewBlock } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { type QueueView, recordArrivals } from '../queue/reconcile.js'
import { sendBuilt } from '../queue/send-pending.js'
import { creditedOf } from '../state/deposits.js'
import { alignRoots, blockLine, freeRoots, realignRoots } from '../state/ledger-state.js'
import { readReferenceScripts } from '../state/queue-elements.js'
import { type BlockContent, fillBlock, type NoContent } from './fill-block.js'
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
