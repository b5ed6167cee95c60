import type { Devnet } from '@ratatosk/devnet'
import {
  createBlockfrostLayer1,
  createDevnetLayer1,
  createKupmiosLayer1,
  type Layer1,
  type Layer1Limits,
} from '@ratatosk/layer1'
import type { NodeContext } from '../context.js'
import { maskedUrl } from '../settings/read.js'
import type { Storage } from '../storage/open-storage.js'
import { hostDevnet } from './devnet-host.js'
import { SharedDevnet } from './shared-devnet.js'

export interface OpenedLayer1 {
  readonly layer1: Layer1
  /** Where it is, for people; without credentials. */
  readonly place: string
  /** The devnet, while this process hosts it. */
  readonly devnet?: () => Devnet | undefined
}

/** Connects to the layer 1 of the settings, and hosts the devnet if no other process does. */
export async function openLayer1(context: NodeContext, storage: Storage): Promise<OpenedLayer1> {
  return (
    connectProvider(context) ??
    (storage.embedded === undefined
      ? openSharedDevnet(context, storage)
      : openEmbeddedDevnet(context, storage.store))
  )
}

/** Layer 1 by the provider of the settings; undefined for a devnet of the node. It sends no request. */
export function connectProvider(
  { settings, network }: Pick<NodeContext, 'settings' | 'network'>,
  limits: Layer1Limits = {},
): OpenedLayer1 | undefined {
  const options = { networkMagic: network.magic, ...limits }
  switch (settings.LAYER1_PROVIDER) {
    case 'blockfrost': {
      const { BLOCKFROST_URL: url = '', BLOCKFROST_PROJECT_ID: projectId } = settings
      const layer1 = createBlockfrostLayer1({ ...options, url, ...(projectId && { projectId }) })
      return { layer1, place: `Blockfrost at ${maskedUrl(url)}` }
    }
    case 'kupmios': {
      const { KUPO_URL: kupoUrl = '', OGMIOS_URL: ogmiosUrl = '' } = settings
      const layer1 = createKupmiosLayer1({ ...options, kupoUrl, ogmiosUrl })
      return { layer1, place: `Kupo at ${maskedUrl(kupoUrl)}, Ogmios at ${maskedUrl(ogmiosUrl)}` }
    }
    default:
      return undefined
  }
}

/** An embedded store belongs to one process, and so does its devnet. */
async function openEmbeddedDevnet(
  { settings, parameters, clock, log, onClose }: NodeContext,
  { database }: Storage['store'],
): Promise<OpenedLayer1> {
  const { major: ledgerVersion } = parameters.ledgerVersion
  const hosted = await hostDevnet({ settings, ledgerVersion, database, served: undefined, clock, log })
  onClose(() => hosted.close())
  const where = hosted.url === undefined ? '' : ` at ${hosted.url}`
  return {
    layer1: createDevnetLayer1(hosted.devnet),
    place: `devnet in this process${where}`,
    devnet: () => hosted.devnet,
  }
}

/** All processes on one PostgreSQL share a devnet. */
async function openSharedDevnet(
  { settings, parameters, duties, network, clock, log, onClose }: NodeContext,
  { store }: Storage,
): Promise<OpenedLayer1> {
  const { major: ledgerVersion } = parameters.ledgerVersion
  const shared = new SharedDevnet({
    leases: store.leases,
    host: duties.sequences
      ? (formerUrl) =>
          hostDevnet({ settings, ledgerVersion, database: store.database, served: { formerUrl }, clock, log })
      : undefined,
    network,
    log,
  })
  onClose(() => shared.close())
  await shared.start()
  const url = await shared.url()
  return {
    layer1: shared.layer1,
    devnet: () => shared.hosted,
    place: url === undefined ? 'devnet, which no process hosts yet' : `devnet at ${url}`,
  }
}
