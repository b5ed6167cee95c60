import { fromHex, toHex } from '@ratatosk/cbor'
import { Layer1Error } from '@ratatosk/layer1'
import { decodeTransaction, outputReferenceKey } from '@ratatosk/ledger'
import {
  type BlockElement,
  maxPrunedBlocks,
  pruneBlocks,
  type RootElement,
  type StateQueue,
  staleBlocks,
} from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { readReferenceScripts } from '../operations/reference-scripts.js'
import { sendChain } from '../operations/send-chain.js'
import { readQueue } from './read-queue.js'

/**
 * Whether a block was in the state queue and was removed from it, as opposed to lost in a roll-back, or not
 * there yet. The element before it tells: the block's commit replaced that element, and if another
 * transaction has replaced it since, that one took the block away.
 *
 * @param block the oldest block of this store that is not in the queue
 * @param before the element that it followed, as the queue has it
 */
export async function isRemoved(
  { layer1, signal }: Pick<SequencerContext, 'layer1' | 'signal'>,
  { commitTransaction: { id, cbor } }: Block,
  { utxo: { reference } }: RootElement | BlockElement,
): Promise<boolean> {
  const replacement = toHex(reference.transactionId)
  if (replacement === toHex(id)) return false
  const place = outputReferenceKey(reference)
  // The commit spends what is there: it was rolled back, or is not in what the provider shows.
  if (decodeTransaction(cbor).body.inputs.some((input) => outputReferenceKey(input) === place)) return false
  const commit = await layer1.status(toHex(id), { signal })
  if (commit.kind !== 'confirmed') return false
  const replaced = await layer1.status(replacement, { signal })
  return replaced.kind === 'confirmed' && replaced.slot >= commit.slot
}

/** Prunings in a row that change nothing before layer 1's answers are considered inconsistent. */
const maxFutile = 8

/**
 * Prunes until no block of the queue is stale. Anybody may: if somebody else is quicker, nothing is lost. An
 * interrupted pruning goes on at the next call.
 *
 * @returns header hashes of the pruned blocks, in the order of the list
 * @throws {Layer1Error} as `submitAndConfirm`
 */
export async function pruneStale(context: SequencerContext): Promise<readonly string[]> {
  const pruned: string[] = []
  for (let futile = 0; futile < maxFutile; ) {
    const queue = await readQueue(context)
    const blocks = staleBlocks(queue)?.blocks.slice(0, maxPrunedBlocks)
    if (blocks === undefined) return pruned
    const gone = await prune(context, queue, blocks)
    pruned.push(...gone)
    futile = gone.length > 0 ? 0 : futile + 1
  }
  throw new Layer1Error('invalid answer', 'Layer 1 shows blocks that it says are spent')
}

/** @returns none if somebody else has spent one of them */
async function prune(
  context: SequencerContext,
  queue: StateQueue,
  blocks: readonly BlockElement[],
): Promise<readonly string[]> {
  const { contracts, operator, log } = context
  const draft = pruneBlocks(contracts, queue, await readReferenceScripts(context))
  const [pruned] = await sendChain(context, operator, ({ length }) =>
    length > 0 ? undefined : { spends: blocks.map(({ utxo }) => utxo), draft },
  )
  if (pruned === undefined) return []
  context.step('blocks-pruned')
  const hashes = blocks.map(({ headerHash }) => headerHash)
  log.warn(
    { transactionId: pruned.id, removed: hashes },
    `Pruned ${hashes.length} blocks that do not follow the one before them`,
  )
  return hashes
}

/** The lowest height at which this store has one of these blocks; undefined if it has none of them. */
export async function lowestHeight(
  { store: { blocks } }: Pick<SequencerContext, 'store'>,
  headerHashes: readonly string[],
): Promise<bigint | undefined> {
  let lowest: bigint | undefined
  for (const hash of headerHashes) {
    const block = await blocks.byHash(fromHex(hash))
    if (block === undefined || block.state === 'removed') continue
    if (lowest === undefined || block.height < lowest) lowest = block.height
  }
  return lowest
}
