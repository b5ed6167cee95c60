import { BytesMap, equalBytes, toHex } from '@ratatosk/cbor'
import { failureCause, isLayer1Error, missingInputs } from '@ratatosk/layer1'
import type { BuiltTransaction } from '@ratatosk/ledger/builder'
import type { RootElement } from '@ratatosk/protocol'
import type { SequencerContext } from '../context.js'
import { creditsRightly } from '../state/deposits.js'
import { returnBlocks } from '../state/ledger-state.js'
import { type PendingTransaction, readQueue } from '../state/queue-elements.js'

/** Sends a transaction that was just stored; false when it failed. Reconciliation sends it again. */
export async function sendBuilt(
  context: SequencerContext,
  kind: PendingTransaction['kind'],
  built: BuiltTransaction,
  slot: bigint,
): Promise<boolean> {
  const { operator, cache, signal, log } = context
  try {
    await operator.submit(built, { signal })
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    log.warn(
      { code: error.code, reason: error.reason },
      `A ${kind} transaction was not sent: ${failureCause(error)}; it is sent again`,
    )
    return false
  }
  cache.sentAt.set(built.id, slot)
  context.step(`${kind}-sent`)
  return true
}

/**
 * Sends pending transactions again, in order, and gives up those that layer 1 can no longer include. `slot`
 * is that of a tip read before the root, which was read before they were found missing on layer 1.
 */
export async function sendPending(
  context: SequencerContext,
  pending: readonly PendingTransaction[],
  slot: bigint,
  root: RootElement,
): Promise<readonly PendingTransaction[] | 'changed'> {
  const { cache, operator, log } = context
  const alive: PendingTransaction[] = []
  const dead = new BytesMap<PendingTransaction>()
  for (const transaction of pending) {
    if (await isDead(context, transaction, slot, alive, dead)) dead.set(transaction.id, transaction)
    else alive.push(transaction)
  }
  if (dead.size === 0) return alive
  // The findings come from several reads; confirm them by one read of the whole queue.
  const queue = await readQueue(context)
  if (!equalBytes(queue.root.datum.state.headerHash, root.datum.state.headerHash)) return 'changed'
  for (const { id, kind, block } of dead.values()) {
    if (kind === 'commit') continue
    operator.release(id)
    cache.deadMerges.add(id)
    log.warn(
      { transaction: toHex(id) },
      `Layer 1 did not include the merge of block ${block.height}; it is built again`,
    )
  }
  const lowest = [...dead.values()].find(({ kind }) => kind === 'commit')?.block
  if (
    lowest !== undefined &&
    !queue.blocks.some(({ headerHash }) => equalBytes(headerHash, lowest.headerHash))
  ) {
    if (lowest.commitTransaction) context.commits.missed(lowest.commitTransaction.id)
    await returnBlocks(context, lowest.height, 'layer 1 did not include its commit')
  }
  return 'changed'
}

async function isDead(
  context: SequencerContext,
  pending: PendingTransaction,
  slot: bigint,
  alive: readonly PendingTransaction[],
  dead: BytesMap<PendingTransaction>,
): Promise<boolean> {
  const { inputs, validityInterval } = pending.transaction.body
  if (inputs.some(({ transactionId }) => dead.has(transactionId))) return true
  if (validityInterval.invalidHereafter !== undefined && slot >= validityInterval.invalidHereafter)
    return true
  const sent = await sendIfDue(context, pending, slot)
  if (sent === 'wrong events') return true
  if (sent !== 'rejected') return false
  // If layer 1 has all inputs, the rejection or the transaction's validity passes.
  const isAlive = (id: Uint8Array) => alive.some((each) => equalBytes(each.id, id))
  const { layer1, signal } = context
  return (await missingInputs(layer1, isAlive, pending.transaction, { signal })).length > 0
}

async function sendIfDue(
  context: SequencerContext,
  pending: PendingTransaction,
  slot: bigint,
): Promise<'sent' | 'rejected' | 'wrong events'> {
  const { layer1, operator, cache, signal, store, options, slots } = context
  const sentAt = cache.sentAt.get(pending.id)
  const resendAfter = BigInt(Math.ceil(options.blockValidityMs / 3 / slots.slotLength))
  // A tip older than `sentAt` means that layer 1 was rolled back and may have lost the transaction.
  if (sentAt !== undefined && slot >= sentAt && slot < sentAt + resendAfter) return 'sent'
  // After a roll-back of layer 1 the block may credit what is no longer there.
  if (pending.kind === 'commit' && !(await creditsRightly(context, pending.block))) return 'wrong events'
  if (!operator.isInFlight(pending.id)) await operator.adopt(pending.bytes, { signal })
  try {
    await operator.submit(pending, { signal })
  } catch (error) {
    if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
    if ((await layer1.status(pending.id, { signal })).kind === 'unknown') {
      // It may be in a mempool that the provider does not show: do not repeat this at each reconciliation.
      if (error.mayHaveEffect) cache.sentAt.set(pending.id, slot)
      return 'rejected'
    }
  }
  cache.sentAt.set(pending.id, slot)
  if (pending.kind === 'merge') context.step('merge-sent')
  else context.step('commit-sent')
  if (pending.kind === 'commit' && pending.block.state === 'built') {
    await store.blocks.setState([pending.block.headerHash], 'submitted', context.lease)
    context.step('block-submitted')
  }
  return 'sent'
}
