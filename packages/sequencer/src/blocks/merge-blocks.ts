import { equalBytes } from '@ratatosk/cbor'
import { encodeBech32Address, keyAddress, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { mergeBlock as draftMerge, type StateQueue } from '@ratatosk/protocol'
import type { Block } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { type QueueView, sendBuilt } from '../queue/reconcile.js'
import { isMature } from '../state/ledger-state.js'
import {
  elementOf,
  findRegistry,
  type PendingTransaction,
  pendingTransaction,
  readElement,
  readReferenceScripts,
  rootAfter,
} from '../state/queue-elements.js'

/** Refunds that one merge collects. More than the one that a merge makes, so that their number falls. */
const collectedPerMerge = 10

/** Merges the oldest mature blocks, after all pending transactions: stores each merge, then sends it. */
export async function mergeBlocks(
  context: SequencerContext,
  view: QueueView,
  limit: number,
): Promise<readonly PendingTransaction[]> {
  const { local, tail, root: present } = view
  const pending: PendingTransaction[] = [...view.pending]
  const merging = new Set(pending.flatMap(({ kind, block }) => (kind === 'merge' ? [block.height] : [])))
  const merged: PendingTransaction[] = []
  for (const [index, block] of local.oldestUnmerged.entries()) {
    if (merging.has(block.height)) continue
    if (merged.length >= limit || merging.size >= context.options.maxUnconfirmed) break
    // Layer 1's tip may have been rolled back to before the end of the window.
    if (block.state !== 'mature' || !isMature(context, block, view.tip.slot)) break
    const root = rootAfter(context.contracts, pending, present)
    const next = local.oldestUnmerged[index + 1]
    const isTail = next === undefined && tail !== undefined && equalBytes(tail.headerHash, block.headerHash)
    // Another operator's commit has put the element it made on layer 1.
    const made = elementOf(context.contracts, block, next)
    const element = isTail ? tail : (made ?? (await readElement(context, block)))
    if (element === undefined) break
    const queue = { roots: [root], blocks: [element], strays: [] }
    const { built, stored } = await storeMerge(context, block, queue, view.tip.slot, pending)
    const merge = pendingTransaction('merge', block, stored)
    pending.push(merge)
    merging.add(block.height)
    merged.push(merge)
    if (!(await sendBuilt(context, 'merge', built, view.tip.slot))) break
  }
  return merged
}

async function storeMerge(
  context: SequencerContext,
  block: Block,
  queue: StateQueue,
  slot: bigint,
  pending: readonly PendingTransaction[],
) {
  const { store, contracts, slots, operator, layer1, signal, options } = context
  const referenceScripts = await readReferenceScripts(context)
  const registry = contracts.bridge && (await findRegistry(context))
  const draft = draftMerge(contracts, { queue, slot, slots, referenceScripts, ...(registry && { registry }) })
  const current = await layer1.currentSlot({ signal })
  // Short, so that a lost merge does not delay the following ones.
  const validUntil = current + BigInt(Math.ceil(options.blockValidityMs / slots.slotLength))
  const refunds = await refundsToCollect(context, pending)
  const inputs = [...(draft.inputs ?? []), ...refunds.map((utxo) => ({ utxo }))]
  const built = await operator.build({ ...draft, inputs, validUntil }, { signal })
  const stored = { id: built.id, cbor: built.bytes }
  try {
    await store.blocks.setMergeTransaction(block.headerHash, stored, context.lease)
  } catch (error) {
    operator.release(built.id)
    throw error
  }
  context.step('merge-stored')
  return { built, stored }
}

/** Bech32 address of the operator's key without a stake part: merges pay refunds to it. */
export function refundAddress(operator: Uint8Array, networkId: 0 | 1): string {
  return encodeBech32Address(keyAddress(operator, networkId))
}

/** Refunds of earlier merges, which the wallet does not see unless its address has no stake part. */
async function refundsToCollect(
  { layer1, operator, signal }: SequencerContext,
  pending: readonly PendingTransaction[],
): Promise<readonly Utxo[]> {
  const address = refundAddress(operator.keys.payment.hash, layer1.networkId)
  if (address === operator.address) return []
  const taken = new Set(pending.flatMap(({ transaction }) => transaction.body.inputs.map(outputReferenceKey)))
  const utxos = await layer1.utxosAt(address, { signal })
  // Anyone can pay to the address: outputs that are no refunds are ignored.
  const refunds = utxos.filter(
    ({ reference, output: { value, datum, referenceScript } }) =>
      value.assets.size === 0 &&
      datum.kind === 'inline' &&
      referenceScript === undefined &&
      !taken.has(outputReferenceKey(reference)),
  )
  return refunds.slice(0, collectedPerMerge)
}
