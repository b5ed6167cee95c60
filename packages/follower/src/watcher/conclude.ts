import { decodeHeader } from '@ratatosk/block'
import { type BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import { type StateQueue, soundRoot } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import type { Missing, WatcherContext } from './context.js'
import { forget, removalsOf } from './send.js'

/** Settles a verdict about a block that the queue does not show, unless by an old view or a roll-back. */
export async function conclude(
  context: WatcherContext,
  verdict: VerdictRecord,
  queue: StateQueue,
): Promise<void> {
  const { verdicts, layer1, signal, log, step } = context
  const { headerHash, height } = verdict
  const own = removalsOf(verdict)
  const states = await Promise.all(own.map(({ id }) => layer1.status(id, { signal })))
  const isIncluded = (place: number): boolean => states[place]?.kind === 'confirmed'
  const removal = own.find(({ stage }, place) => stage === 'removal' && isIncluded(place))
  if (removal === undefined && !(await isTaken(context, verdict, queue))) return
  for (const [place, recorded] of own.entries()) if (!isIncluded(place)) await forget(context, recorded)
  await verdicts.removed(headerHash)
  step('removed')
  const fields = { headerHash: toHex(headerHash), height: Number(height) }
  if (removal) log.info({ ...fields, transaction: toHex(removal.id) }, 'Removed an invalid block')
  else log.info(fields, 'An invalid block is gone: this watcher did not remove it')
}

/** Whether another transaction than the block's commit has spent the element before: it took the block. */
async function isTaken(
  context: WatcherContext,
  { header, headerHash, height, commitId, state }: VerdictRecord,
  queue: StateQueue,
): Promise<boolean> {
  const { layer1, signal, verdicts, archive, log } = context
  const { prevHeaderHash } = decodeHeader(header)
  const root = soundRoot(queue)
  const { state: confirmed } = root.datum
  if (equalBytes(confirmed.headerHash, headerHash)) {
    if (state === 'unprovable') return false
    const reason = 'It was merged before it was removed'
    await verdicts.unprovable(headerHash, reason)
    const fields = { code: 'WATCHER_MERGED', headerHash: toHex(headerHash) }
    log.error(fields, `An invalid block is not removed: ${reason}`)
    return false
  }
  if (commitId === undefined) return false
  const commit = await layer1.status(commitId, { signal })
  if (commit.kind !== 'confirmed') return false
  const before = equalBytes(confirmed.headerHash, prevHeaderHash)
    ? root
    : queue.blocks.find((block) => equalBytes(block.headerHash, prevHeaderHash))
  if (before === undefined) {
    // Later blocks are merged, perhaps this one too, or the queue is too old. A follower archives valid
    // blocks only: one at this height, merged, is there in place of this one.
    const archived = await archive.byHeight(height)
    return archived?.merged === true && !equalBytes(archived.headerHash, headerHash)
  }
  const { transactionId: replacement } = before.utxo.reference
  if (equalBytes(replacement, commitId)) return false
  const replaced = await layer1.status(replacement, { signal })
  return replaced.kind === 'confirmed' && replaced.slot >= commit.slot
}

/** Settles verdicts about missing bodies that were archived since; returns the other blocks. */
export async function settleValid(
  { verdicts, archive, log }: WatcherContext,
  open: readonly VerdictRecord[],
  missing: BytesMap<Missing>,
): Promise<readonly VerdictRecord[]> {
  const left: VerdictRecord[] = []
  for (const verdict of open) {
    const { headerHash, height, state } = verdict
    const archived = state === 'unavailable' ? await archive.byHeight(height) : undefined
    if (archived === undefined || !equalBytes(archived.headerHash, headerHash)) {
      left.push(verdict)
      continue
    }
    await verdicts.valid(headerHash, 'Its body came late, and breaks no rule')
    missing.delete(headerHash)
    log.info(
      { headerHash: toHex(headerHash), height: Number(height) },
      'A block whose body was missing is valid',
    )
  }
  return left
}
