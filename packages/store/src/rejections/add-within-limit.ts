import type { Connection } from '@ratatosk/database'
import { addRejections } from './add-rejections.js'
import { pruneToBytes } from './prune-rejections.js'
import type { NewRejection } from './types.js'

/**
 * Adds rejections in a transaction, and prunes in the same transaction what is over the limit: no read
 * ever returns more.
 *
 * @param maxBytes undefined: no limit
 */
export async function addWithinLimit(
  transaction: Connection,
  rejections: readonly NewRejection[],
  maxBytes: number | undefined,
): Promise<number> {
  const added = await addRejections(transaction, rejections)
  if (rejections.length > 0 && maxBytes !== undefined) await pruneToBytes(transaction, maxBytes)
  return added
}
