import { join } from 'node:path'
import type { Evidence } from '@ratatosk/block'
import {
  createFollower,
  type Follower,
  type FollowerOptions,
  layer1Chain,
  openEvidence,
} from '@ratatosk/follower'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { Watcher } from '@ratatosk/watcher'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import { cacheDirectory, type Storage } from '../storage/open-storage.js'
import { openRebuildable } from '../storage/rebuildable.js'

/** Starts to archive the blocks of layer 1, with bodies from the peers. */
export async function startFollower(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
  watcher: Watcher | undefined,
): Promise<{ readonly follower: Follower; readonly evidence: Evidence | undefined }> {
  const { settings, network, parameters, genesis, log, onClose } = context
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const directory = await cacheDirectory(context, storage)
  const maxBytes = settings.EVIDENCE_MAX_BYTES
  const evidence =
    directory === undefined || maxBytes === 0
      ? undefined
      : openEvidence({ dir: join(directory, 'invalid-blocks'), maxBytes })
  const options: FollowerOptions = {
    chain: layer1Chain(layer1, contracts),
    peers: settings.ARCHIVIST_PEERS ?? [],
    archive: storage.store.archive,
    genesis: genesis?.outputs ?? [],
    rules: { parameters, networkId: network.id, slots: network.slots, evaluator },
    log,
    ...(evidence && { evidence }),
    ...(watcher && { watch: watcher.watch, unavailable: watcher.unavailable }),
  }
  const open = (trieDir: string) => createFollower({ ...options, trieDir })
  const follower =
    directory === undefined
      ? await createFollower(options)
      : await openRebuildable(join(directory, 'archive-outputs'), open, log)
  onClose(() => follower.close())
  return { follower, evidence }
}
