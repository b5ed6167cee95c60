import type { Sequencer, ValidationWorker } from '@ratatosk/workers'
import type { Settings } from './settings/schema.js'

/** What this process has in mind, without secrets. */
export function globalsOf(
  { NODE_ROLE, NETWORK }: Settings,
  validation: ValidationWorker | undefined,
  sequencer: Sequencer | undefined,
) {
  const { rss, heapUsed } = process.memoryUsage()
  return {
    role: NODE_ROLE,
    network: NETWORK,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    memoryBytes: { resident: rss, heap: heapUsed },
    validation: validation?.stats() ?? null,
    sequencer: sequencer?.snapshot() ?? null,
  }
}
