import type { ChainView } from '../view/chain-view.js'
import { synchronization } from '../view/synchronization.js'

/** The version of Kupo whose answers these are. */
const version = 'v2.12.0'

/** Slots that an index may be behind before Kupo calls it one that synchronizes: 200 blocks on layer 1. */
const mostBehind = 4000n

/** The state of an index, with the names of Kupo. Null where there is no block yet. */
export interface Health {
  readonly connection_status: 'connected' | 'disconnected'
  readonly most_recent_checkpoint: bigint | null
  readonly most_recent_node_tip: bigint | null
  readonly seconds_since_last_block: bigint | null
  readonly network_synchronization: number | null
  readonly configuration: { readonly indexes: 'installed' }
  readonly version: string
}

const unknown = {
  connection_status: 'connected',
  most_recent_checkpoint: null,
  most_recent_node_tip: null,
  seconds_since_last_block: null,
  network_synchronization: null,
  configuration: { indexes: 'installed' },
  version,
} as const

/** The health of a chain that cannot be read. */
export const disconnected: Health = { ...unknown, connection_status: 'disconnected' }

export async function readHealth(chain: ChainView): Promise<Health> {
  const [tip, checkpoint] = await Promise.all([chain.tip(), chain.indexedSlot()])
  if (tip.height === 0) return unknown
  const since = (chain.currentSlot() - checkpoint) * BigInt(chain.slots.slotLength)
  return {
    ...unknown,
    most_recent_checkpoint: checkpoint,
    most_recent_node_tip: tip.slot,
    seconds_since_last_block: since < 0n ? 0n : since / 1000n,
    network_synchronization: synchronization(chain, checkpoint, tip.slot),
  }
}

export function statusOf({
  connection_status,
  most_recent_checkpoint,
  most_recent_node_tip,
}: Health): number {
  if (connection_status === 'disconnected') return 503
  return (most_recent_node_tip ?? 0n) - (most_recent_checkpoint ?? 0n) < mostBehind ? 200 : 202
}

/** Health in the text format of Prometheus. */
export function healthMetrics(health: Health): string {
  const values = [
    ['configuration_indexes', 'gauge', 1],
    ['connection_status', 'gauge', health.connection_status === 'connected' ? 1 : 0],
    ['most_recent_checkpoint', 'counter', health.most_recent_checkpoint],
    ['most_recent_node_tip', 'counter', health.most_recent_node_tip],
    ['network_synchronization', 'gauge', health.network_synchronization],
    ['seconds_since_last_block', 'gauge', health.seconds_since_last_block],
  ] as const
  return values
    .filter(([, , value]) => value !== null)
    .map(([name, type, value]) => `# TYPE kupo_${name} ${type}\nkupo_${name}  ${value}\n`)
    .join('\n')
}
