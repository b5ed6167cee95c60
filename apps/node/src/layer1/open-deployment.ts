import { isDeepStrictEqual } from 'node:util'
import type { BridgedValue, BridgeReading, QueueReading } from '@ratatosk/audit'
import { type BlockRules, encodedHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import { addValue, type Quantities } from '@ratatosk/ledger/builder'
import {
  type BridgeEvents,
  type Contracts,
  openEventSource,
  readStateQueue,
  type StateQueue,
} from '@ratatosk/protocol'
import type { LedgerEntry } from '@ratatosk/store'
import { pino } from 'pino'
import { loadContext } from '../context.js'
import { SettingsError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { connectProvider } from './open-layer1.js'
import { blockRules, contractsOf } from './settlement.js'

/** The data of a deployment that others than a node judge: its layer 1, its genesis and its rules. */
export interface Deployment {
  /** Where layer 1 is, for people; without credentials. */
  readonly place: string
  /** Rejects when layer 1 cannot be read. */
  readQueue(signal?: AbortSignal): Promise<QueueReading>
  /** The queue and the bridge, if the deployment has one. Rejects when layer 1 cannot be read. */
  readQueueAndBridge(signal?: AbortSignal): Promise<QueueReading>
  readonly genesis: readonly LedgerEntry[]
  /** The rules of layer 2, without what runs scripts. */
  readonly rules: Omit<BlockRules, 'evaluator'>
}

/**
 * Reads what the settings of an archivist say about a deployment. Opens no storage, and sends nothing before
 * the queue is read.
 *
 * @throws SettingsError
 * @example
 * const { readQueue } = await openDeployment(readSettings({ ...process.env, NODE_ROLE: 'archivist' }))
 */
export async function openDeployment(settings: Settings): Promise<Deployment> {
  const context = await loadContext(settings, { log: pino({ level: 'silent' }) })
  await context.server.close()
  const provider = connectProvider(context)
  if (provider === undefined)
    throw new SettingsError(['LAYER1_PROVIDER must be blockfrost or kupmios: a devnet belongs to its node.'])
  const { layer1, place } = provider
  const contracts = contractsOf(context)
  const { genesis } = context
  const readBridge = openBridgeReader(contracts, layer1)

  async function readQueue(signal?: AbortSignal): Promise<QueueReading> {
    const utxos = await layer1.utxosByPolicy(contracts.scripts.queue.policy, signal && { signal })
    return readingOf(readStateQueue(contracts, utxos))
  }

  return {
    place,
    genesis: genesis?.outputs ?? [],
    rules: blockRules(context, contracts),
    readQueue,
    async readQueueAndBridge(signal) {
      let queue = await readQueue(signal)
      if (readBridge === undefined) return queue
      for (let reading = 1; ; reading++) {
        const bridge = await readBridge(signal)
        const after = await readQueue(signal)
        // Otherwise something was committed or merged meanwhile.
        if (reading === mostReadings || isDeepStrictEqual(queue, after)) return { ...after, bridge }
        queue = after
      }
    },
  }
}

export function readingOf({ roots, blocks, strays, fault }: StateQueue): QueueReading {
  const [root] = roots
  // A queue that never began has none: without a root, these are of one whose root is gone.
  const left =
    root === undefined && strays.length > 0 ? `, and ${strays.length} of its elements are left` : ''
  return {
    ...(fault && { fault: `${fault.message}${left}` }),
    ...(root && {
      confirmed: {
        headerHash: root.datum.state.headerHash,
        utxosRoot: root.datum.state.utxoRoot,
        endTime: root.datum.state.endTime,
      },
    }),
    blocks: blocks.map(({ headerHash, datum }) => ({
      headerHash,
      header: encodedHeader(datum.header).bytes,
    })),
  }
}

/** How often the bridge is read for a queue that moves. */
const mostReadings = 4

/** Reads the bridge of contracts that have one; undefined for others. Each request is sent by a read. */
function openBridgeReader(
  contracts: Contracts,
  layer1: Pick<Layer1, 'utxosAsOf' | 'slots'>,
): ((signal?: AbortSignal) => Promise<BridgeReading>) | undefined {
  const { bridge } = contracts
  if (bridge === undefined) return undefined
  let source: BridgeEvents | undefined
  return async (signal) => {
    source ??= openEventSource(contracts, layer1, await layer1.slots(signal && { signal }))
    const { slot, deposits, reserves, settlements } = await source.state(signal)
    const sum = (utxos: readonly Utxo[]) => bridgedValue(utxos, bridge.events.policy)
    return {
      slot,
      bridged: bridge.terms.bridged.map(toHex),
      reserves: sum(reserves),
      deposits: deposits.map(({ id, utxo, output }) => ({ id, value: sum([utxo]), output })),
      settlements: settlements.map(({ headerHash, root }) => ({ headerHash, root })),
    }
  }
}

/** The value of outputs without the tokens of events. */
function bridgedValue(utxos: readonly Utxo[], events: string): BridgedValue {
  const assets = heldBy(utxos, events)
  const lovelace = assets.get('lovelace') ?? 0n
  assets.delete('lovelace')
  return { lovelace, assets }
}

/** The sum of outputs, by unit, without the tokens of events. */
export function heldBy(utxos: readonly Utxo[], events: string): Quantities {
  const sum: Quantities = new Map()
  for (const { output } of utxos) {
    const assets = new Map(output.value.assets)
    assets.delete(events)
    addValue(sum, { lovelace: output.value.lovelace, assets })
  }
  return sum
}
