import { BytesMap, fromHex } from '@ratatosk/cbor'
import { headerHashOfToken } from '@ratatosk/contracts'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type BlockElement, readStateQueue } from '@ratatosk/protocol'
import { operationUnderWay } from '@ratatosk/sequencer'
import type {
  CommitmentWallet,
  RootUnitsReader,
  StateQueueOptions,
  StateQueueReader,
  StrayOutput,
} from '@ratatosk/state-queue'
import type { Store } from '@ratatosk/store'
import type { StatusSources } from '@ratatosk/submit/status'
import { present } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Node } from '../node.js'
import { operationRunner, operatorAccess } from './operator.js'

/** Without the ledger, a process serves only what it can read from layer 1 alone. */
export function stateQueueOptions(node: Node): StateQueueOptions {
  const { settings, duties, store, keys } = node
  const settlement = present(node.settlement, 'layer 1')
  const run = operationRunner(node)
  return {
    ...operatorAccess(settings),
    rootUnits: rootUnitsOf(settlement, store),
    ...(keys.operatorAddress !== undefined && {
      wallet: commitmentWallet(settlement, keys.operatorAddress),
    }),
    ...(duties.serves.includes('ledger') && { queue: stateQueueOf(settlement, store) }),
    ...(duties.serves.includes('operations') && { repair: { repair: () => run('repair') } }),
  }
}

/** The maturity window in milliseconds, for plugins that report when a block matures. */
export function maturityOf(settlement: Settlement | undefined) {
  return settlement && { maturityWindowMs: Number(settlement.contracts.parameters.maturityWindow) }
}

/** Reads the state queue on layer 1 and adds the heights that this node knows. */
function stateQueueOf(
  { reads, contracts }: Settlement,
  { blocks: ledgerBlocks }: Pick<Store, 'blocks'>,
): StateQueueReader {
  const { maturityWindow } = contracts.parameters
  return {
    async read(signal) {
      const [utxos, known] = await Promise.all([
        reads.utxosByPolicy(contracts.scripts.queue.policy, signal && { signal }),
        ledgerBlocks.unmerged(),
      ])
      const heights = new BytesMap(known.map(({ headerHash, height }) => [headerHash, height] as const))
      const { roots, blocks, strays, fault } = readStateQueue(contracts, utxos)
      const queued = ({ headerHash, datum: { header } }: BlockElement) => {
        const { startTime, endTime } = header
        const height = heights.get(headerHash)
        return {
          headerHash,
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
        strays: strays.map((utxo) => strayOf(utxo, contracts.scripts.queue.policy)),
        ...(fault && { fault: fault.message }),
      }
    },
  }
}

/** Reads the outputs that hold the root unit, of which a sound state queue has one. */
function rootUnitsOf(
  {
    reads,
    contracts: {
      scripts: { queue },
    },
  }: Settlement,
  store: Pick<Store, 'leases'>,
): RootUnitsReader {
  return {
    async read(signal) {
      const [utxos, operation] = await Promise.all([
        reads.utxosByUnit(queue.unit, signal && { signal }),
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

/** Reads the balance of the wallet that pays for commitments. */
export function commitmentWallet({ reads }: Pick<Settlement, 'reads'>, address: string): CommitmentWallet {
  return {
    async lovelace(signal) {
      const utxos = await reads.utxosAt(address, signal && { signal })
      return utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
    },
  }
}

function strayOf(utxo: Utxo, policy: string): StrayOutput {
  const [name = ''] = utxo.output.value.assets.get(policy)?.keys() ?? []
  const headerHash = headerHashOfToken(fromHex(name))
  return { outRef: outputReferenceKey(utxo.reference), ...(headerHash && { headerHash }) }
}

/** The sources of `/tx/status`, `/submission` and the search of submissions. */
export function statusSources(
  node: Pick<Node, 'store' | 'reads' | 'replica' | 'submissions' | 'settlement'>,
): StatusSources {
  const { submissions, settlement } = node
  const one = async <T>(read: (store: Store) => Promise<T | undefined>): Promise<T | undefined> =>
    (await readAll(node, async (store) => [await read(store)]))[0]
  return {
    ...maturityOf(settlement),
    ledger: {
      placeOf: (id) => one((store) => store.placeOf(id)),
      placesOf: (ids) => readAll(node, (store) => store.placesOf(ids)),
    },
    rejections: {
      find: (id) => one((store) => store.rejections.find(id)),
      findTransaction: (id) => one((store) => store.rejections.findTransaction(id)),
    },
    queue: submissions,
    removals: {
      ofTransaction: async (id) => {
        const removals = await one(async (store) => {
          const found = await store.resubmissions.ofTransaction(id)
          return found.length > 0 ? found : undefined
        })
        return removals ?? []
      },
    },
  }
}

/**
 * Reads the replica. It may not show yet where a transaction went that has left the queue: if it lacks some,
 * the primary is asked, and the replica once more when it shows as much.
 */
async function readAll<T>(
  { store, reads, replica }: Pick<Node, 'store' | 'reads' | 'replica'>,
  read: (store: Store) => Promise<readonly (T | undefined)[]>,
): Promise<readonly (T | undefined)[]> {
  const shown = await read(reads)
  if (replica === undefined || !shown.includes(undefined)) return shown
  const known = await read(store)
  if (known.every((each, n) => (each === undefined) === (shown[n] === undefined))) return shown
  await replica.caughtUp()
  const now = await read(reads)
  return known.map((each, n) => now[n] ?? each)
}
