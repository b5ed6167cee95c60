import type { Layer1 } from '@ratatosk/layer1'
import { type BuiltTransaction, isWalletError } from '@ratatosk/ledger/builder'
import {
  type BridgeState,
  type RootElement,
  readRegistry,
  readStateQueue,
  tidyDeposits,
} from '@ratatosk/protocol'
import { build, type PayoutMeans } from './build-payout.js'

/** Fewer deposits than so many are not worth a transaction. */
const least = 5

/** Turns deposits that the confirmed state is newer than into reserves, if there are `from` of them. */
export async function buildTidying(
  means: PayoutMeans,
  layer1: Pick<Layer1, 'utxosByPolicy' | 'utxosByUnit'>,
  { deposits }: BridgeState,
  from: number,
): Promise<BuiltTransaction | undefined> {
  if (deposits.length < from) return undefined
  const { contracts, signal, referenceScripts } = means
  const { queue, registry: place } = contracts.scripts
  const root = confirmedRoot(readStateQueue(contracts, await layer1.utxosByPolicy(queue.policy, { signal })))
  const registry = readRegistry(contracts, await layer1.utxosByUnit(place.unit, { signal }))
  if (root === undefined || registry === undefined) return undefined
  const old = deposits.filter(({ time }) => time < root.datum.state.endTime)
  if (old.length < from) return undefined
  for (let count = from; count >= least; count = Math.floor(count / 2)) {
    try {
      const tidied = tidyDeposits(contracts, {
        deposits: old.slice(0, count),
        root,
        registry,
        referenceScripts,
      })
      return await build(means, tidied)
    } catch (error) {
      if (!isWalletError(error)) throw error
      if (error.code === 'WALLET_INSUFFICIENT_FUNDS') return undefined
    }
  }
  return undefined
}

function confirmedRoot({ roots }: { readonly roots: readonly RootElement[] }): RootElement | undefined {
  const [root, ...others] = roots
  return others.length === 0 ? root : undefined
}
