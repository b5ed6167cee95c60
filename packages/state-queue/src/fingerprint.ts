import { createHash } from 'node:crypto'
import type { StateQueueView } from './ports.js'

/** Text that two views share if they show the same outputs and the same fault; time does not change it. */
export function fingerprint({ roots, blocks, strays = [], fault = '' }: StateQueueView): string {
  const hash = createHash('sha256')
  for (const { outRef, headerHash } of roots) hash.update(`root ${outRef} `).update(headerHash)
  for (const { headerHash, height = '' } of blocks) hash.update(headerHash).update(` ${height}\n`)
  for (const { outRef } of strays) hash.update(`stray ${outRef}\n`)
  return hash.update(fault).digest('base64')
}
