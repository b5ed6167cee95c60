import { headerHashOfToken } from '@ratatosk/contracts'
import { type BlockElement, readStateQueue, type Utxo } from '@ratatosk/layer1'
import { fromHex, outputReferenceKey, toHex } from '@ratatosk/ledger'
import type { CommitmentWallet, RootUnitsReader, StateQueueReader, StrayOutput } from '@ratatosk/state-queue'
import type { Store } from '@ratatosk/store'
import { operationUnderWay } from '@ratatosk/workers'
import type { Settlement } from '../layer1/open-settlement.js'

/** The state queue on layer 1, with the heights that this node knows. */
export function stateQueueOf(
  { layer1, contracts }: Settlement,
  { blocks: ledgerBlocks }: Pick<Store, 'blocks'>,
): StateQueueReader {
  const { maturityWindow } = contracts.parameters
  return {
    async read(signal) {
      const [utxos, known] = await Promise.all([
        layer1.utxosAt(contracts.queue.addressText, signal && { signal }),
        ledgerBlocks.unmerged(),
      ])
      const heights = new Map(known.map(({ headerHash, height }) => [toHex(headerHash), height]))
      const { roots, blocks, strays, fault } = readStateQueue(contracts, utxos)
      const queued = ({ headerHash, datum: { header } }: BlockElement) => {
        const { startTime, endTime } = header
        const height = heights.get(headerHash)
        return {
          headerHash: fromHex(headerHash),
          ...(height !== undefined && { height }),
          startTime,
          endTime,
          maturesAt: endTime + maturityWindow,
        }
      }
      return {
        roots: roots.map(({ utxo, datum: { state } }) => ({
          outRef: outputReferenceKey(utxo.reference),
          ...state,
        })),
        blocks: blocks.map(queued),
        strays: strays.map((utxo) => strayOf(utxo, contracts.queue.policy)),
        ...(fault && { fault: fault.message }),
      }
    },
  }
}

export function rootUnitsOf(
  { layer1, contracts: { queue } }: Settlement,
  store: Pick<Store, 'leases'>,
): RootUnitsReader {
  return {
    async look(signal) {
      const [utxos, operation] = await Promise.all([
        layer1.utxosByUnit(queue.unit, signal && { signal }),
        operationUnderWay(store),
      ])
      return {
        resetInProgress: operation !== undefined && operation !== 'commit' && operation !== 'merge',
        stateQueueAddress: queue.addressText,
        rootUnit: queue.unit,
        outRefs: utxos.map(({ reference }) => outputReferenceKey(reference)),
      }
    },
  }
}

/** The wallet that pays for commitments, by its address. */
export function commitmentWallet({ layer1 }: Pick<Settlement, 'layer1'>, address: string): CommitmentWallet {
  return {
    async lovelace(signal) {
      const utxos = await layer1.utxosAt(address, signal && { signal })
      return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    },
  }
}

function strayOf(utxo: Utxo, policy: string): StrayOutput {
  const [name = ''] = utxo.output.value.assets.get(policy)?.keys() ?? []
  const headerHash = headerHashOfToken(fromHex(name))
  return { outRef: outputReferenceKey(utxo.reference), ...(headerHash && { headerHash }) }
}
