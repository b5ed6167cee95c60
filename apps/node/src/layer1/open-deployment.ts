import { isDeepStrictEqual } from 'node:util'
import type { QueueReading } from '@ratatosk/audit'
import { type BlockRules, encodedHeader } from '@ratatosk/block'
import { readStateQueue } from '@ratatosk/protocol'
import type { LedgerEntry } from '@ratatosk/store'
import { pino } from 'pino'
import { loadContext } from '../context.js'
import { SettingsError } from '../errors.js'
import type { Settings } from '../settings/schema.js'
import { openBridgeReader } from './deployed-bridge.js'
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
    const { roots, blocks, fault } = readStateQueue(contracts, utxos)
    const [root] = roots
    return {
      ...(fault && { fault: fault.message }),
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

/** How often the bridge is read for a queue that moves. */
const mostReadings = 4
