import { join } from 'node:path'
import { archiveOfBlocks } from '@ratatosk/archivist'
import type { Evidence, Header } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import {
  createFollower,
  type Follower,
  type FollowerOptions,
  layer1Chain,
  openEvidence,
} from '@ratatosk/follower'
import type { Watcher } from '@ratatosk/follower/watcher'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Storage } from '../storage/open-storage.js'
import { openRebuildable } from '../storage/rebuildable.js'

/**
 * Archives layer 1's blocks with the peers' bodies; beside a sequencer, the store's blocks first. Without
 * `directory`, outputs are in memory and invalid blocks are not kept.
 */
export async function startFollower(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
  directory: string | undefined,
  watcher: Watcher | undefined,
): Promise<{ readonly follower: Follower; readonly evidence: Evidence | undefined }> {
  const { settings, duties, network, parameters, genesis, keys, bodyBudget, log, onClose } = context
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const maxBytes = settings.EVIDENCE_MAX_BYTES
  const evidence =
    directory === undefined || maxBytes === 0
      ? undefined
      : openEvidence({ dir: join(directory, 'invalid-blocks'), maxBytes })
  const options: FollowerOptions = {
    chain: layer1Chain(layer1, contracts),
    peers: settings.ARCHIVIST_PEERS ?? [],
    budget: bodyBudget,
    archive: storage.store.archive,
    genesis: genesis?.outputs ?? [],
    rules: { parameters, networkId: network.id, slots: network.slots, evaluator },
    log,
    // As often as a devnet makes a block.
    pollMs: network.isDevnet ? 1000 : 5000,
    // One body at a time beside those that the sequencer holds.
    ...(duties.sequences && {
      own: archiveOfBlocks(storage.store.blocks, { cacheBytes: 0 }),
      concurrency: 1,
    }),
    ...(evidence && { evidence }),
    ...(watcher && { watch: watcher.watch, unavailable: othersOnly(watcher, keys.operator?.payment.hash) }),
  }
  const open = (trieDir: string) => createFollower({ ...options, trieDir })
  const follower =
    directory === undefined
      ? await createFollower(options)
      : await openRebuildable(join(directory, 'archive-outputs'), open, log)
  onClose(() => follower.close())
  return { follower, evidence }
}

/** An operator never asks itself: what its store has lost for a while, silence would make a verdict. */
function othersOnly({ unavailable }: Watcher, operator: Uint8Array | undefined): Watcher['unavailable'] {
  const isOwn = ({ operatorVkey }: Header) => operator !== undefined && equalBytes(operatorVkey, operator)
  return async (block, signal) => (isOwn(block.header) ? undefined : unavailable(block, signal))
}
