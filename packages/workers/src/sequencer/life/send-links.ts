import { isLayer1Error, type RootElement } from '@ratatosk/layer1'
import { equalBytes, outputReferenceKey, toHex } from '@ratatosk/ledger'
import { readQueue } from './compare-queue.js'
import type { Link } from './links.js'
import { returnBlocks } from './return-blocks.js'
import type { Work } from './work.js'

/**
 * Sends what is on its way and was not sent for a while, in order, the same bytes each time. What can never be included is given
 * up: commitments return to the mempool with all blocks behind them, merges are built anew.
 *
 * @param slot of a tip that was read before the root, which was read before the links were found missing on layer 1
 * @returns those that are still on their way; `changed`: everything is to be read again
 */
export async function sendLinks(
  work: Work,
  links: readonly Link[],
  slot: bigint,
  root: RootElement,
): Promise<readonly Link[] | 'changed'> {
  const { memory, operator, log } = work
  const alive: Link[] = []
  const dead = new Map<string, Link>()
  for (const link of links) {
    if (await isDead(work, link, slot, alive, dead)) dead.set(link.id, link)
    else alive.push(link)
  }
  if (dead.size === 0) return alive
  // Whether they are dead was judged by several looks; this one is at one moment.
  const queue = await readQueue(work)
  if (!equalBytes(queue.root.datum.state.headerHash, root.datum.state.headerHash)) return 'changed'
  for (const { id, kind, block } of dead.values()) {
    if (kind === 'commit') continue
    operator.release(id)
    memory.deadMerges.add(id)
    log.warn({ transaction: id }, `the merge of block ${block.height} was not included: it is merged anew`)
  }
  const lowest = [...dead.values()].find(({ kind }) => kind === 'commit')?.block
  if (
    lowest !== undefined &&
    !queue.blocks.some(({ headerHash }) => headerHash === toHex(lowest.headerHash))
  ) {
    await returnBlocks(work, lowest.height, 'layer 1 did not include it')
  }
  return 'changed'
}

async function isDead(
  work: Work,
  link: Link,
  slot: bigint,
  alive: readonly Link[],
  dead: ReadonlyMap<string, Link>,
): Promise<boolean> {
  const { inputs, validityInterval } = link.transaction.body
  if (inputs.some(({ transactionId }) => dead.has(toHex(transactionId)))) return true
  if (validityInterval.invalidHereafter !== undefined && slot >= validityInterval.invalidHereafter)
    return true
  return (await sendIfDue(work, link, slot)) === 'rejected' && (await cannotHold(work, link, alive))
}

async function sendIfDue(work: Work, link: Link, slot: bigint): Promise<'sent' | 'rejected'> {
  const { layer1, operator, memory, signal, store } = work
  const sentAt = memory.sent.get(link.id)
  const patience = BigInt(Math.ceil(work.blockValidityMs / 3 / work.slots.slotLength))
  // A tip before that slot: layer 1 was rolled back, and may have lost it.
  if (sentAt !== undefined && slot >= sentAt && slot < sentAt + patience) return 'sent'
  if (!operator.inFlight().includes(link.id)) await operator.adopt(link.bytes, { signal })
  try {
    await operator.submit(link, { signal })
  } catch (error) {
    if (!isLayer1Error(error) || error.kind !== 'rejected') throw error
    if ((await layer1.status(link.id, { signal })).kind === 'unknown') {
      // It may wait in a mempool that is not shown: no need to ask at each look.
      if (error.mayHaveEffect) memory.sent.set(link.id, slot)
      return 'rejected'
    }
  }
  memory.sent.set(link.id, slot)
  if (link.kind === 'merge') work.step('merge-sent')
  else work.step('commit-sent')
  if (link.kind === 'commit' && link.block.state === 'built') {
    await store.blocks.setState([link.block.headerHash], 'submitted', work.lease)
    work.step('block-submitted')
  }
  return 'sent'
}

/** Whether something that a rejected transaction needs is gone. Where nothing is, the rejection passes, or its validity does. */
async function cannotHold(
  { layer1, signal }: Work,
  { transaction }: Link,
  alive: readonly Link[],
): Promise<boolean> {
  const made = new Set(
    alive.flatMap(({ produced }) => produced.map(({ reference }) => outputReferenceKey(reference))),
  )
  const { inputs, referenceInputs } = transaction.body
  const needed = new Map(
    [...inputs, ...referenceInputs].map((reference) => [outputReferenceKey(reference), reference]),
  )
  for (const key of made) needed.delete(key)
  const found = await layer1.utxosByReferences([...needed.values()], { signal })
  return found.length < needed.size
}
