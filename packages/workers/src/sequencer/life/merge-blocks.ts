import { mergeBlock as draftMerge } from '@ratatosk/layer1'
import { fromHex } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import { libraryOf } from './library.js'
import { elementOf, type Link, linkOf, rootAfter } from './links.js'
import { isMature } from './maturity.js'
import type { Standing } from './reconcile.js'
import { refundsToCollect } from './refunds.js'
import { sendBuilt } from './send-built.js'
import type { Work } from './work.js'

/**
 * Merges the oldest mature blocks, each behind the one before and behind all that is on its way: the transaction is stored, then
 * sent.
 *
 * @param most how many of them
 * @returns the blocks whose merges were sent
 */
export async function mergeBlocks(work: Work, standing: Standing, most: number): Promise<readonly Block[]> {
  const { local, root: now } = standing
  const links: Link[] = [...standing.links]
  const leaving = new Set(links.flatMap(({ kind, block }) => (kind === 'merge' ? [block.height] : [])))
  const merged: Block[] = []
  for (const [index, block] of local.oldest.entries()) {
    if (leaving.has(block.height)) continue
    if (merged.length >= most || leaving.size >= work.maxUnconfirmed) break
    // Layer 1's tip may have gone back behind the end of the window.
    if (block.state !== 'mature' || !isMature(work, block, standing.slot)) break
    const root = rootAfter(work.contracts, links, now)
    const element = elementOf(work.contracts, block, local.oldest[index + 1])
    const queue = { roots: [root], blocks: [element], strays: [] }
    const { built, stored } = await storeMerge(work, block, queue, standing.slot, links)
    links.push(linkOf('merge', block, stored))
    leaving.add(block.height)
    merged.push(block)
    if (!(await sendBuilt(work, 'merge', built, standing.slot))) break
  }
  return merged
}

async function storeMerge(
  work: Work,
  block: Block,
  queue: Parameters<typeof draftMerge>[1]['queue'],
  slot: bigint,
  links: readonly Link[],
) {
  const { store, contracts, slots, operator, layer1, signal, blockValidityMs } = work
  const draft = draftMerge(contracts, { queue, slot, slots, library: await libraryOf(work) })
  const current = await layer1.currentSlot({ signal })
  // Soon over, so that a merge that got lost holds nothing up.
  const validUntil = current + BigInt(Math.ceil(blockValidityMs / slots.slotLength))
  const refunds = await refundsToCollect(work, links)
  const inputs = [...(draft.inputs ?? []), ...refunds.map((utxo) => ({ utxo }))]
  const built = await operator.build({ ...draft, inputs, validUntil }, { signal })
  const stored = { id: fromHex(built.id), cbor: built.bytes }
  try {
    await store.blocks.setMergeTransaction(block.headerHash, stored, work.lease)
  } catch (error) {
    operator.release(built.id)
    throw error
  }
  work.step('merge-stored')
  return { built, stored }
}
