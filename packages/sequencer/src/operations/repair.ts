import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import type { OperationResult } from '@ratatosk/ports'
import {
  allElements,
  burnElements,
  dustOf,
  maxBurnedElements,
  type RegistryElement,
  readStateQueue,
  removeBlock,
} from '@ratatosk/protocol'
import { administratorOf, type SequencerContext } from '../context.js'
import { refusalOf, SequencerError } from '../errors.js'
import { pruneStale } from '../queue/compare-queue.js'
import { reconcile } from '../queue/reconcile.js'
import { sendChain } from '../send-transactions.js'
import { markMerged, returnBlocks, undoBlocks } from '../state/ledger-state.js'
import { findRegistry, readQueue, readReferenceScripts } from '../state/queue-elements.js'

/** Burns the queue and empties blocks, mempool, ledger and history. Continues an interrupted reset. */
export async function reset(context: SequencerContext): Promise<OperationResult> {
  const { store, roots, operator, cache, log } = context
  administratorOf(context)
  await burnQueue(context)
  await store.blocks.reset(context.lease)
  context.step('store-emptied')
  // No transaction in flight can be included: each spends an element that was burned.
  for (const id of operator.inFlight()) operator.release(id)
  cache.storeEmptied(await roots.rebuild(store.blocks.utxosAfterNewest()))
  log.warn({}, 'Reset: the state queue is burned and the store is empty')
  return { kind: 'reset' }
}

/**
 * Burns a queue that cannot be continued: several root units, broken, or extended by another operator.
 * Unmerged blocks return to the mempool. An interrupted repair continues at the next call, or with init.
 */
export async function repair(context: SequencerContext): Promise<OperationResult> {
  const { store, layer1, contracts, signal, log } = context
  const roots = await layer1.utxosByUnit(contracts.scripts.queue.unit, { signal })
  const fault = roots.length === 1 ? await faultOf(context) : `the state queue has ${roots.length} roots`
  if (fault === undefined) return { kind: 'repaired' }
  administratorOf(context)
  await recordMerges(context)
  const confirmed = await store.blocks.confirmed()
  await returnBlocks(context, (confirmed?.height ?? 0n) + 1n, fault)
  if (await burnQueue(context)) log.warn({}, 'Repair: the state queue is burned; initialise a new one')
  return { kind: 'repaired' }
}

/** The reason why the sequencer cannot go on with a queue of one root. */
async function faultOf(context: SequencerContext): Promise<string | undefined> {
  try {
    const { obstacle } = await reconcile(context)
    return obstacle && faultBy(obstacle)
  } catch (error) {
    const refusal = refusalOf(error)
    const fault = refusal && faultBy(refusal)
    if (fault === undefined) throw error
    return fault
  }
}

function faultBy({ code }: SequencerError): string | undefined {
  if (code === 'SEQUENCER_FOREIGN_QUEUE') return 'another operator has extended the state queue'
  if (code === 'SEQUENCER_INVALID_BLOCK') return 'another operator has committed an invalid block'
  return code === 'SEQUENCER_BROKEN_QUEUE' ? 'the state queue is broken' : undefined
}

/** Records blocks of this store that layer 1 has merged and that were not recorded yet: they stay merged. */
async function recordMerges(context: SequencerContext): Promise<void> {
  const { store, layer1, contracts, signal } = context
  const utxos = await layer1.utxosByUnit(contracts.scripts.queue.unit, { signal })
  const [root, second] = readStateQueue(contracts, utxos).roots
  if (root === undefined || second !== undefined) return
  const { headerHash, prevHeaderHash } = root.datum.state
  const confirmed = (await store.blocks.confirmed())?.height ?? 0n
  // If the confirmed state is another operator's block, the block before it may be ours.
  for (const hash of [headerHash, prevHeaderHash]) {
    const block = await store.blocks.byHash(hash)
    if (block === undefined || block.state === 'removed') continue
    if (block.height > confirmed)
      await markMerged(context, await store.blocks.range(confirmed + 1n, block.height))
    return
  }
}

/** The elements that one transaction burns, and the dust that it sweeps. */
interface Batch {
  readonly elements: readonly Utxo[]
  readonly dust: readonly Utxo[]
}

/**
 * Burns every element of the queue, roots first, so that nothing can be appended meanwhile. Also sweeps dust,
 * which the script releases only with an element: a root alone takes 99 outputs along. Returns whether there
 * was any element; the next call burns what an interrupted one left.
 */
export async function burnQueue(context: SequencerContext): Promise<boolean> {
  let burned = 0
  let dust: readonly Utxo[] | undefined
  for (;;) {
    const elements = await readElements(context)
    if (elements.length === 0) break
    dust ??= await readDust(context)
    // Burning the root unbinds the queue from the registry.
    const registry = await findRegistry(context)
    const batches = batchesOf(elements, dust)
    for (let start = 0; start < batches.length; start += context.options.maxUnconfirmed) {
      const gone = await burn(context, batches.slice(start, start + context.options.maxUnconfirmed), registry)
      burned += gone
      context.step('elements-burned')
      context.log.info({ burned, of: elements.length }, `Burned ${burned} elements of the state queue`)
      // Another party has spent an element: the list that was read is out of date.
      if (gone === 0) break
    }
    dust = undefined
  }
  return burned > 0
}

/** As few transactions as elements and dust fit into, but none without an element. */
function batchesOf(elements: readonly Utxo[], dust: readonly Utxo[]): readonly Batch[] {
  const count = Math.min(elements.length, Math.ceil((elements.length + dust.length) / maxBurnedElements))
  const size = dust.length === 0 ? maxBurnedElements : Math.ceil(elements.length / count)
  const room = maxBurnedElements - size
  return Array.from({ length: Math.ceil(elements.length / size) }, (_, n) => ({
    elements: elements.slice(n * size, (n + 1) * size),
    dust: dust.slice(n * room, (n + 1) * room),
  }))
}

/** Burns batches in a chain of transactions. Returns how many elements were burned. */
async function burn(
  context: SequencerContext,
  batches: readonly Batch[],
  registry: RegistryElement | undefined,
): Promise<number> {
  const { contracts } = context
  const { wallet } = administratorOf(context)
  const referenceScripts = await readReferenceScripts(context)
  const included = await sendChain(context, wallet, ({ length }) => {
    const batch = batches[length]
    if (batch === undefined) return undefined
    const { elements, dust } = batch
    const draftWith = (swept: readonly Utxo[]) =>
      burnElements(contracts, elements, registry, referenceScripts, swept)
    // Outputs that others left there must not keep the queue from being burned.
    return { spends: elements, draft: draftWith(dust), ...(dust.length > 0 && { otherwise: draftWith([]) }) }
  })
  return included.reduce((sum, _transaction, place) => sum + (batches[place]?.elements.length ?? 0), 0)
}

async function readElements({ layer1, contracts, signal }: SequencerContext): Promise<readonly Utxo[]> {
  const utxos = await layer1.utxosByPolicy(contracts.scripts.queue.policy, { signal })
  return allElements(readStateQueue(contracts, utxos))
}

/** The dust at the queue's address; none if it cannot be read: it may be more than a provider lists. */
async function readDust({ layer1, contracts, signal, log }: SequencerContext): Promise<readonly Utxo[]> {
  try {
    return dustOf(contracts, await layer1.utxosAt(contracts.scripts.queue.addressText, { signal }))
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    log.warn({ code: error.code }, 'The dust at the state queue cannot be read and stays there')
    return []
  }
}

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
