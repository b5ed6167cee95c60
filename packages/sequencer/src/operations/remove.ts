import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { Layer1Error } from '@ratatosk/layer1'
import { decodeTransaction, outputReferenceKey } from '@ratatosk/ledger'
import type { OperationResult } from '@ratatosk/ports'
import {
  type BlockElement,
  maxPrunedBlocks,
  pruneBlocks,
  type RootElement,
  removeBlock,
  type StateQueue,
  staleBlocks,
} from '@ratatosk/protocol'
import type { Layer1Transaction } from '@ratatosk/store'
import { undoBlocks } from '../blocks/ledger-state.js'
import { readQueue, readReferenceScripts } from '../blocks/queue-elements.js'
import { administratorOf, type SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { sendChain } from './send-transactions.js'

/**
 * Removes a block of this header hash and those behind it. It comes first, so that an extension of the queue
 * meanwhile cannot keep it there. Blocks that an interruption leaves are pruned before the next one.
 */
export async function remove(context: SequencerContext, name: string): Promise<OperationResult> {
  const { log, cache } = context
  administratorOf(context)
  cache.comparison = undefined
  const headerHash = fromHex(name)
  const transactionId = await removeOne(context, headerHash)
  const pruned = await pruneStale(context)
  const gone = transactionId === undefined ? pruned : [headerHash, ...pruned]
  if (gone.length === 0)
    throw new SequencerError(
      'SEQUENCER_NO_SUCH_BLOCK',
      `Block ${name} is not in the state queue: ` +
        'only a block that is committed and not merged can be removed',
    )
  const lowest = await lowestHeight(context, gone)
  if (lowest !== undefined)
    await undoBlocks(context, lowest, 'the administrator removed it from the state queue')
  const removed = gone.map(toHex)
  log.warn({ removed, transactionId }, `Removed ${removed.length} blocks from the state queue`)
  return { kind: 'removed', headerHash: name, transactionId: transactionId ?? '', removed }
}

/** @returns the id of the transaction; undefined if the block is not in the queue */
async function removeOne(context: SequencerContext, headerHash: Uint8Array): Promise<string | undefined> {
  const { contracts } = context
  const { wallet } = administratorOf(context)
  for (;;) {
    const queue = await readQueue(context)
    const block = queue.blocks.find((each) => equalBytes(each.headerHash, headerHash))
    if (block === undefined) return undefined
    const draft = removeBlock(contracts, queue, headerHash, await readReferenceScripts(context))
    const [transaction] = await sendChain(context, wallet, ({ length }) =>
      length > 0 ? undefined : { spends: [block.utxo], draft },
    )
    if (transaction === undefined) continue
    context.step('blocks-removed')
    return toHex(transaction.id)
  }
}

/**
 * Whether a block of this store was removed from the queue, as opposed to lost in a roll-back or not there
 * yet. Its commit replaced the element before it; another transaction that has replaced it since took the
 * block away.
 */
export async function isRemoved(
  { layer1, signal }: Pick<SequencerContext, 'layer1' | 'signal'>,
  { id, cbor }: Layer1Transaction,
  { utxo: { reference } }: RootElement | BlockElement,
): Promise<boolean> {
  const { transactionId: replacement } = reference
  if (equalBytes(replacement, id)) return false
  const place = outputReferenceKey(reference)
  // The commit spends what is there: it was rolled back, or is not in what the provider shows.
  if (decodeTransaction(cbor).body.inputs.some((input) => outputReferenceKey(input) === place)) return false
  const commit = await layer1.status(id, { signal })
  if (commit.kind !== 'confirmed') return false
  const replaced = await layer1.status(replacement, { signal })
  return replaced.kind === 'confirmed' && replaced.slot >= commit.slot
}

/** Prunings in a row that change nothing before layer 1's answers are considered inconsistent. */
const maxFutile = 8

/** Prunes until no block is stale, again after a crash; returns hashes. Throws as `submitAndConfirm`. */
export async function pruneStale(context: SequencerContext): Promise<readonly Uint8Array[]> {
  const pruned: Uint8Array[] = []
  for (let futile = 0; futile < maxFutile; ) {
    const queue = await readQueue(context)
    const blocks = staleBlocks(queue)?.blocks.slice(0, maxPrunedBlocks)
    if (blocks === undefined) return pruned
    const gone = await prune(context, queue, blocks)
    pruned.push(...gone)
    futile = gone.length > 0 ? 0 : futile + 1
  }
  throw new Layer1Error('LAYER1_INVALID_ANSWER', 'Layer 1 shows blocks that it says are spent')
}

/** @returns none if another transaction has spent one of them */
async function prune(
  context: SequencerContext,
  queue: StateQueue,
  blocks: readonly BlockElement[],
): Promise<readonly Uint8Array[]> {
  const { contracts, operator, log } = context
  const draft = pruneBlocks(contracts, queue, await readReferenceScripts(context))
  const [pruned] = await sendChain(context, operator, ({ length }) =>
    length > 0 ? undefined : { spends: blocks.map(({ utxo }) => utxo), draft },
  )
  if (pruned === undefined) return []
  context.step('blocks-pruned')
  const hashes = blocks.map(({ headerHash }) => headerHash)
  log.warn(
    { transactionId: toHex(pruned.id), removed: hashes.map(toHex) },
    `Pruned ${hashes.length} blocks that do not follow the one before them`,
  )
  return hashes
}

/** The lowest height at which this store has one of these blocks; undefined if it has none of them. */
async function lowestHeight(
  { store: { blocks } }: Pick<SequencerContext, 'store'>,
  headerHashes: readonly Uint8Array[],
): Promise<bigint | undefined> {
  let lowest: bigint | undefined
  for (const hash of headerHashes) {
    const block = await blocks.byHash(hash)
    if (block === undefined || block.state === 'removed') continue
    if (lowest === undefined || block.height < lowest) lowest = block.height
  }
  return lowest
}
