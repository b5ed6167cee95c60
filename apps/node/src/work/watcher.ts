import { createWatcher, type Watcher } from '@ratatosk/follower/watcher'
import { openWallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { type NodeContext, present } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Storage } from '../storage/open-storage.js'

/** Opens the watcher, which removes invalid blocks and asks for bodies. Does not wait for layer 1. */
export function openWatcher(
  { settings, duties, network, parameters, keys, log, onClose }: NodeContext,
  { store }: Storage,
  { layer1, contracts }: Settlement,
): Watcher {
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const most = settings.WATCHER_MAX_LOVELACE_PER_HOUR
  const watcher = createWatcher({
    contracts,
    rules: { parameters, networkId: network.id, slots: network.slots },
    layer1,
    wallet: openWallet({ layer1, keys: present(keys.watcher, 'wallet of a watcher'), evaluator }),
    verdicts: store.verdicts,
    archive: store.archive,
    evaluator,
    log,
    ...(settings.WATCHER_PATIENCE_MS !== undefined && { patienceMs: settings.WATCHER_PATIENCE_MS }),
    // Processes of a sequencer open a watcher in turn; see `startFollowing`.
    ...(duties.bodies === 'archive' &&
      settings.DATABASE_URL !== undefined && {
        lease: { leases: store.leases, ttlMs: settings.SEQUENCER_LEASE_MS },
      }),
    ...(most > 0 && { maxLovelacePerHour: BigInt(most) }),
    // Requests to a devnet cost nothing, and it makes a block every second.
    pollMs: network.isDevnet ? 200 : 5000,
  })
  onClose(() => watcher.close())
  return watcher
}
