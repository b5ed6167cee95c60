import { type BuiltTransaction, isLayer1Error } from '@ratatosk/layer1'
import type { Work } from './work.js'

const names = { commit: 'the commitment', merge: 'a merge' } as const

/**
 * Sends the operator's transaction that was just stored.
 *
 * @param slot of layer 1's tip
 * @returns false where it cannot be sent now: it is sent with what is on its way
 */
export async function sendBuilt(
  work: Work,
  kind: 'commit' | 'merge',
  built: BuiltTransaction,
  slot: bigint,
): Promise<boolean> {
  const { operator, memory, signal, log } = work
  try {
    await operator.submit(built, { signal })
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    log.warn(
      { cause: error.kind, reason: error.reason },
      `${names[kind]} was not sent: ${error.kind}; it is sent again`,
    )
    return false
  }
  memory.sent.set(built.id, slot)
  work.step(`${kind}-sent`)
  return true
}
