import type { SqlConnection } from '@ratatosk/devnet'
import {
  createBlockfrostLayer1,
  createDevnetLayer1,
  createKupmiosLayer1,
  type Layer1,
} from '@ratatosk/layer1'
import type { Store } from '@ratatosk/store'
import pg from 'pg'
import type { Logger } from 'pino'
import type { ClosingStack } from '../parts/closing-stack.js'
import { duties } from '../roles.js'
import { maskedUrl } from '../settings/masked.js'
import type { Settings } from '../settings/schema.js'
import { hostDevnet } from './devnet-host.js'
import { followingLayer1 } from './following-layer1.js'
import { devnetMagic, layer1NetworkId, networkMagic } from './layer1-network.js'
import { SharedDevnet } from './shared-devnet.js'

export interface OpenedLayer1 {
  readonly layer1: Layer1
  /** Where it is, for people; without credentials. */
  readonly place: string
}

export interface Layer1Options {
  readonly settings: Settings
  readonly store: Store
  /** The embedded database; undefined where the store is in PostgreSQL. */
  readonly embedded: SqlConnection | undefined
  readonly log: Logger
}

/** Reaches layer 1 as the settings say; a devnet that nobody runs yet begins in this process. */
export async function openLayer1(options: Layer1Options, closing: ClosingStack): Promise<OpenedLayer1> {
  const { settings } = options
  const magic = networkMagic(settings)
  switch (settings.LAYER1_PROVIDER) {
    case 'blockfrost': {
      const { BLOCKFROST_URL: url = '', BLOCKFROST_PROJECT_ID: projectId } = settings
      const layer1 = createBlockfrostLayer1({ url, networkMagic: magic, ...(projectId && { projectId }) })
      return { layer1, place: `Blockfrost at ${maskedUrl(url)}` }
    }
    case 'kupmios': {
      const { KUPO_URL: kupoUrl = '', OGMIOS_URL: ogmiosUrl = '' } = settings
      const layer1 = createKupmiosLayer1({ kupoUrl, ogmiosUrl, networkMagic: magic })
      return { layer1, place: `Kupo at ${maskedUrl(kupoUrl)}, Ogmios at ${maskedUrl(ogmiosUrl)}` }
    }
    default:
      return options.embedded === undefined
        ? openSharedDevnet(options, closing)
        : openOwnDevnet(options, options.embedded, closing)
  }
}

async function openOwnDevnet(
  { settings, log }: Layer1Options,
  connection: SqlConnection,
  closing: ClosingStack,
): Promise<OpenedLayer1> {
  const hosted = await hostDevnet({ settings, connection, served: false, log })
  closing.defer(() => hosted.close())
  const where = hosted.url === undefined ? '' : ` at ${hosted.url}`
  return { layer1: createDevnetLayer1(hosted.devnet), place: `devnet in this process${where}` }
}

async function openSharedDevnet(
  { settings, store, log }: Layer1Options,
  closing: ClosingStack,
): Promise<OpenedLayer1> {
  const mayHost = duties[settings.NODE_ROLE].sequences
  const pool = mayHost ? new pg.Pool({ connectionString: settings.DATABASE_URL, max: 2 }) : undefined
  pool?.on('error', (err) => log.warn({ err }, "The devnet's connection to the database broke off"))
  if (pool !== undefined) closing.defer(() => pool.end())
  const shared = new SharedDevnet({
    leases: store.leases,
    host: pool && (() => hostDevnet({ settings, connection: pool, served: true, log })),
    networkMagic: devnetMagic,
    log,
  })
  closing.defer(() => shared.close())
  await shared.start()
  const url = await shared.url()
  return {
    layer1: followingLayer1('devnet', layer1NetworkId(settings), () => shared.layer1()),
    place: url === undefined ? 'devnet, which no process runs yet' : `devnet at ${url}`,
  }
}
