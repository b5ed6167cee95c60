import { encodedHeader, type Header, intervalOf, protocolVersion } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type BlockElement,
  commitBlock as draftCommit,
  type RegistryElement,
  type RootElement,
} from '@ratatosk/protocol'
import type { BlockRoots } from '@ratatosk/roots'
import type { Block, NewBlock, OrderedTransaction } from '@ratatosk/store'
import type { BuiltTransaction } from '@ratatosk/transaction'
import { emptyRoot } from '@ratatosk/trie'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { readReferenceScripts } from '../operations/reference-scripts.js'
import { blockLine } from './block-states.js'
import { dropExpired } from './drop-expired.js'
import { alignRoots } from './ledger-state.js'
import { type CommitTimes, planCommit, readOperators } from './operator-turn.js'
import { elementOf, rootAfter } from './pending-transactions.js'
import { readOldest } from './prepare-block.js'
import type { QueueView } from './reconcile.js'
import { recordingArrivals } from './record-arrivals.js'
import { sendBuilt } from './send-pending.js'

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
  /** The mempool is empty. */
  | { readonly kind: 'nothing' }
  /** The operators have changed: the queue has to be compared before a block is built. */
  | { readonly kind: 'outdated' }
  /** A block can be committed later. */
  | { readonly kind: 'wait'; readonly reason: SequencerError }

/**
 * Builds a block from the oldest transactions of the mempool, stores it with its commit transaction, and
 * sends that transaction after all pending ones. Until the block is stored, a failure leaves no trace.
 */
export async function commitBlock(context: SequencerContext, view: QueueView): Promise<Commitment> {
  const { unconfirmed, newest } = view.local
  if (unconfirmed.length >= context.maxUnconfirmed) {
    const message = `${unconfirmed.length} blocks are unconfirmed: wait until layer 1 has included one`
    return { kind: 'wait', reason: new SequencerError('SEQUENCER_TOO_MANY_UNCONFIRMED', message) }
  }
  const startedAt = performance.now()
  const tail = tailOf(context, view)
  const registry = await readOperators(context)
  if (context.memory.comparison === undefined) return { kind: 'outdated' }
  const times = await planCommit(context, registry, tail.endTime, view.tip.slot)
  if (times instanceof SequencerError) return { kind: 'wait', reason: times }

  await alignRoots(context, newest)
  const outcome = await recordingArrivals(context, view, () =>
    restoringRoots(context, async () => {
      const content = await applyOldest(context, { startTime: tail.endTime, endTime: times.endTime })
      return 'kind' in content ? content : storeBlock(context, content, tail, registry, times)
    }),
  )
  if ('kind' in outcome) return outcome
  const { block, built } = outcome
  if (await sendBuilt(context, 'commit', built, view.tip.slot)) {
    await context.store.blocks.setState([block.headerHash], 'submitted', context.lease)
    context.step('block-submitted')
  }
  freeLater(context)
  const ms = Math.round(performance.now() - startedAt)
  context.log.info(...blockLine(block, `committed: ${block.transactions} transactions in ${ms} ms`))
  const isFull = block.transactions === context.maxBlockTransactions
  return { kind: 'built', block, isFull, fee: built.fee }
}

/** Frees what the roots no longer need, while layer 1 and the next block are waited for. */
function freeLater({ roots, log }: SequencerContext): void {
  roots.free().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ err: error }, `Space of earlier states of the outputs is not freed: ${reason}`)
  })
}

/** What a new block is appended to. */
interface Tail {
  readonly root: RootElement
  readonly block: BlockElement | undefined
  readonly hash: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly endTime: bigint
}

/** The newest block, or the root when every block is merged or its merge is pending. */
function tailOf({ contracts }: SequencerContext, { root: present, local, tail, pending }: QueueView): Tail {
  const root = rootAfter(contracts, pending, present)
  const { newest } = local
  const isMerging = pending.some(({ kind, block }) => kind === 'merge' && block.height === newest?.height)
  if (newest === undefined || newest.state === 'merged' || isMerging) {
    const { headerHash: hash, utxoRoot: utxosRoot, endTime } = root.datum.state
    return { root, block: undefined, hash, utxosRoot, endTime }
  }
  const { headerHash: hash, utxosRoot, endTime } = newest
  const block = tail?.headerHash === toHex(hash) ? tail : elementOf(contracts, newest, undefined)
  return { root, block, hash, utxosRoot, endTime }
}

/** The transactions of a block, at least one, and the roots after them. */
interface Content {
  readonly transactions: readonly OrderedTransaction[]
  readonly roots: BlockRoots
}

/**
 * Applies the mempool's oldest transactions to the output trie. Those that have expired are dropped first;
 * one that is not valid yet, and those after it, have to wait.
 */
async function applyOldest(
  context: SequencerContext,
  times: Pick<Header, 'startTime' | 'endTime'>,
): Promise<Content | Commitment> {
  const { roots, slots, memory, maxBlockTransactions } = context
  const interval = intervalOf(times, slots)
  let limit = maxBlockTransactions
  let { ahead } = memory
  memory.ahead = []
  for (;;) {
    const transactions = await readOldest(context, ahead, limit)
    ahead = []
    if (transactions.length === 0) return { kind: 'nothing' }
    const answer = await roots.applyWithin(
      transactions.map(({ cbor }) => cbor),
      interval,
    )
    if ('utxosRoot' in answer) {
      context.step('roots-applied')
      return { transactions, roots: answer }
    }
    const expired = answer.expired.flatMap((position) => transactions[position] ?? [])
    if (expired.length > 0) await dropExpired(context, expired, interval)
    else limit = answer.notBegun[0] ?? limit
    if (limit === 0) return { kind: 'wait', reason: notYetValid(transactions) }
  }
}

function notYetValid([first]: readonly OrderedTransaction[]): SequencerError {
  return new SequencerError(
    'SEQUENCER_NOT_YET_VALID',
    `The oldest transaction of the mempool, ${first && toHex(first.id)}, is valid only after the next block: try again later, and check this machine's clock`,
  )
}

async function storeBlock(
  context: SequencerContext,
  { transactions, roots }: Content,
  tail: Tail,
  registry: RegistryElement,
  { slot, endTime }: CommitTimes,
): Promise<{ readonly block: Block; readonly built: BuiltTransaction }> {
  const { store, operator, contracts, slots, signal } = context
  const header = encodedHeader({
    prevUtxosRoot: tail.utxosRoot,
    utxosRoot: roots.utxosRoot,
    transactionsRoot: roots.transactionsRoot,
    depositsRoot: emptyRoot(),
    withdrawalsRoot: emptyRoot(),
    startTime: tail.endTime,
    endTime,
    prevHeaderHash: tail.hash,
    operatorVkey: operator.keys.payment.hash,
    protocolVersion,
  })
  const queue = { roots: [tail.root], blocks: tail.block ? [tail.block] : [], strays: [] }
  const referenceScripts = await readReferenceScripts(context)
  const draft = draftCommit(contracts, {
    queue,
    registry,
    header: header.fields,
    headerHash: header.hash,
    slot,
    slots,
    referenceScripts,
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
    commitTransaction: { id: fromHex(built.id), cbor: built.bytes },
  }
  try {
    const stored = await store.blocks.build(block, context.lease)
    context.step('block-built')
    return { block: stored, built }
  } catch (error) {
    // If the block was stored after all, reconciliation finds it and the wallet adopts its transaction.
    operator.release(built.id)
    throw error
  }
}

/** When a block could not be stored, returns the output trie to the store's newest block. */
async function restoringRoots<T>(context: SequencerContext, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    // Read again, because genesis may have been applied since. The next commit aligns the trie if this fails.
    context.memory.genesisRoot = undefined
    await context.store.blocks
      .newest()
      .then((newest) => alignRoots(context, newest))
      .catch(() => undefined)
    throw error
  }
}
