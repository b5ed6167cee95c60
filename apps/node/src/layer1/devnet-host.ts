import cors from '@fastify/cors'
import {
  createDevnet,
  createSqlStore,
  type Devnet,
  defaultParameters,
  devnetApis,
  ledgerVersionOf,
} from '@ratatosk/devnet'
import { lazySchemas } from '@ratatosk/http'
import type { Store } from '@ratatosk/store'
import { fastify } from 'fastify'
import type { Logger } from 'pino'
import type { Settings } from '../settings/schema.js'
import { devnetSchema } from '../storage/open-storage.js'

/** A devnet in this process. */
export interface HostedDevnet {
  readonly devnet: Devnet
  /** Base URL of its HTTP APIs, such as `http://127.0.0.1:1337`; undefined if they are not served. */
  readonly url: string | undefined
  close(): Promise<void>
}

interface HostOptions {
  readonly settings: Settings
  /** The ledger version of layer 2, which the devnet has too if it knows it. */
  readonly ledgerVersion: number
  /** Database that holds the chain. */
  readonly database: Store['database']
  /** Serve the HTTP APIs even without DEVNET_PORT, for other processes. */
  readonly served: boolean
  /** Current time in POSIX milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/** Opens the devnet whose chain is in a database, or starts a new chain there. */
export async function hostDevnet({
  settings,
  ledgerVersion,
  database,
  served,
  clock,
  log,
}: HostOptions): Promise<HostedDevnet> {
  const { DEVNET_PORT, HOST } = settings
  const version = ledgerVersionOf(ledgerVersion)
  const devnet = await createDevnet({
    store: createSqlStore({ database, schema: devnetSchema(settings) }),
    ...(version && { parameters: defaultParameters(version) }),
    clock: { now: clock },
    onError: (err) => log.warn({ err }, 'The devnet failed to make a block; it retries'),
  })
  // Some clients double a slash in their paths.
  const server = fastify({
    ...lazySchemas(),
    forceCloseConnections: true,
    routerOptions: { ignoreDuplicateSlashes: true },
  })
  server.addHook('onClose', () => devnet.close())
  const close = () => server.close()
  if (!served && DEVNET_PORT === undefined) return { devnet, url: undefined, close }
  try {
    // Its pages are under development, and so of any origin.
    await server.register(cors, { origin: true })
    await server.register(devnetApis, {
      devnet,
      paths: { wallet: '/dev-wallet.js' },
      ogmiosVersion: settings.OGMIOS_VERSION,
    })
    return { devnet, url: await server.listen({ host: HOST, port: DEVNET_PORT ?? 0 }), close }
  } catch (error) {
    await close()
    throw error
  }
}
