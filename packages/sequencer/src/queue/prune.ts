import { equalBytes, toHex } from '@ratatosk/cbor'
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
import type { Layer1Transaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { sendChain } from '../send-transactions.js'
import { readQueue, readReferenceScripts } from '../state/queue-elements.js'

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
