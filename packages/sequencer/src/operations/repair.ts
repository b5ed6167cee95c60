import type { OperationResult } from '@ratatosk/ports'
import { readStateQueue } from '@ratatosk/protocol'
import { markMerged } from '../blocks/block-states.js'
import { returnBlocks } from '../blocks/ledger-state.js'
import { reconcile } from '../blocks/reconcile.js'
import type { SequencerContext } from '../context.js'
import { refusalOf } from '../errors.js'
import { administratorOf } from './administrator.js'
import { burnQueue } from './burn-queue.js'

/**
 * Burns a queue with which the sequencer cannot go on: it has several root units, it is broken, or somebody
 * else has extended it. Nothing that was accepted is lost: unmerged blocks return to the mempool, and init
 * begins a queue with the newest merged block of this store. An interrupted repair continues when it is
 * requested again, or with init.
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

/** What keeps the sequencer from going on with a queue of one root. */
async function faultOf(context: SequencerContext): Promise<string | undefined> {
  try {
    await reconcile(context)
    return undefined
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal?.code === 'SEQUENCER_FOREIGN_QUEUE') return 'somebody else has extended the state queue'
    if (refusal?.code === 'SEQUENCER_BROKEN_QUEUE') return 'the state queue is broken'
    throw error
  }
}

/** Records blocks of this store that layer 1 has merged and that were not recorded yet: they stay merged. */
async function recordMerges(context: SequencerContext): Promise<void> {
  const { store, layer1, contracts, signal } = context
  const utxos = await layer1.utxosByUnit(contracts.scripts.queue.unit, { signal })
  const [root, second] = readStateQueue(contracts, utxos).roots
  if (root === undefined || second !== undefined) return
  const { headerHash, prevHeaderHash } = root.datum.state
  const confirmed = (await store.blocks.confirmed())?.height ?? 0n
  // If the confirmed state is somebody else's block, the block before it may be ours.
  for (const hash of [headerHash, prevHeaderHash]) {
    const block = await store.blocks.byHash(hash)
    if (block === undefined || block.state === 'removed') continue
    if (block.height > confirmed)
      await markMerged(context, await store.blocks.range(confirmed + 1n, block.height))
    return
  }
}
