import type { Connection } from '@ratatosk/database'
import { addRejections } from './add-rejections.js'
import { pruneToBytes } from './prune-rejections.js'
import type { NewRejection } from './types.js'

/** Adds rejections and prunes down to `maxBytes` (undefined: no limit) in one transaction. */
export async function addWithinLimit(
  transaction: Connection,
  rejections: readonly NewRejection[],
  maxBytes: number | undefined,
): Promise<number> {
  const added = await addRejections(transaction, rejections)
  if (rejections.length > 0 && maxBytes !== undefined) await pruneToBytes(transaction, maxBytes)
  return added
}
