import type { HealthOptions } from '@ratatosk/health'
import type { Node } from '../node.js'

/** Probes of the parts that a node depends on. */
export function healthOptions({ store, queue, settlement, follower, settings }: Node): HealthOptions {
  return {
    probes: {
      database: (signal) => store.ping(signal),
      queue: (signal) => queue.ping(signal),
      ...(settlement && {
        layer1: async (signal) => {
          await settlement.reads.tip({ signal })
        },
      }),
      ...(follower && { blocks: () => noInvalidBlock(follower) }),
    },
    probeTimeoutMs: settings.HEALTH_PROBE_TIMEOUT_MS,
    ...(follower && { counters: { invalidBlocks: () => follower.status().invalidBlocks } }),
  }
}

/** Rejects while layer 1 shows a block that breaks the ledger's rules. */
async function noInvalidBlock(follower: NonNullable<Node['follower']>): Promise<void> {
  const { invalid, invalidBlocks } = follower.status()
  if (invalid === undefined) return
  const { height, reason } = invalid
  throw new Error(`Block ${height} is invalid: ${reason} (invalid blocks since the start: ${invalidBlocks})`)
}
