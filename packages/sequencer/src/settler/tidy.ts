import { leastMerged } from '@ratatosk/contracts'
import type { Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError } from '@ratatosk/ledger/builder'
import {
  type BridgeState,
  type RootElement,
  readBridge,
  readRegistry,
  readStateQueue,
  type Tidying,
  tidyDeposits,
} from '@ratatosk/protocol'
import { build, type PayoutMeans } from './means.js'

/** Fewer deposits than so many are not worth a transaction. */
const least = 5
/** About as many outputs as one transaction can merge. */
const mostMerged = 60

/** Turns deposits that the confirmed state is newer than into reserves, if there are `from` of them. */
export async function buildTidying(
  means: PayoutMeans,
  { deposits }: BridgeState,
  from: number,
): Promise<BuiltTransaction | undefined> {
  if (deposits.length < from) return undefined
  const place = await placeOf(means)
  if (place === undefined) return undefined
  const { endTime } = place.root.datum.state
  const old = deposits.filter(({ time }) => time < endTime)
  if (old.length < from) return undefined
  return buildLargest(from, least, async (count) =>
    build(means, tidyDeposits(means.contracts, { ...place, deposits: old.slice(0, count) })),
  )
}

/** Makes one reserve of the first of some outputs of the treasury: as many as fit into a transaction. */
export async function buildMerging(
  means: PayoutMeans,
  treasury: readonly Utxo[],
): Promise<BuiltTransaction | undefined> {
  const place = await placeOf(means)
  if (place === undefined) return undefined
  return buildLargest(Math.min(treasury.length, mostMerged), leastMerged, async (count) => {
    const { deposits, reserves } = readBridge(means.contracts, treasury.slice(0, count))
    return build(means, tidyDeposits(means.contracts, { ...place, deposits, reserves }))
  })
}

/** The largest that can be built, by halving; undefined if none can, or the wallet lacks ada. */
async function buildLargest(
  most: number,
  fewest: number,
  attempt: (count: number) => Promise<BuiltTransaction>,
): Promise<BuiltTransaction | undefined> {
  for (let count = most; count >= fewest; count = nextOf(count, fewest)) {
    try {
      return await attempt(count)
    } catch (error) {
      if (!isWalletError(error)) throw error
      if (error.code === 'WALLET_INSUFFICIENT_FUNDS') return undefined
    }
  }
  return undefined
}

const nextOf = (count: number, fewest: number): number =>
  count > fewest ? Math.max(fewest, Math.floor(count / 2)) : 0

/** The outputs that a tidying refers to; undefined while the queue has no single root. */
async function placeOf({
  contracts,
  layer1,
  signal,
  referenceScripts,
}: PayoutMeans): Promise<Omit<Tidying, 'deposits'> | undefined> {
  const { queue, registry: place } = contracts.scripts
  const root = confirmedRoot(readStateQueue(contracts, await layer1.utxosByPolicy(queue.policy, { signal })))
  const registry = readRegistry(contracts, await layer1.utxosByUnit(place.unit, { signal }))
  return root && registry && { root, registry, referenceScripts }
}

function confirmedRoot({ roots }: { readonly roots: readonly RootElement[] }): RootElement | undefined {
  const [root, ...others] = roots
  return others.length === 0 ? root : undefined
}
