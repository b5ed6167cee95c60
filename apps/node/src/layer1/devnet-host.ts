import cors from '@fastify/cors'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { routerOptions } from '@ratatosk/chain-apis'
import { createDevnet, createSqlStore, type Devnet, devnetApis, testGenesis } from '@ratatosk/devnet'
import { lazySchemas } from '@ratatosk/http'
import type { Store } from '@ratatosk/store'
import { type FastifyInstance, fastify } from 'fastify'
import type { Logger } from 'pino'
import { listenError, type Place } from '../server/listen.js'
import type { Settings } from '../settings/schema.js'
import { devnetSchema } from '../storage/open-storage.js'
import { backing, backingKeys } from './keys.js'

export interface HostedDevnet {
  readonly devnet: Devnet
  /** Base URL of its HTTP APIs, such as `http://127.0.0.1:1337`; undefined if they are not served. */
  readonly url: string | undefined
  close(): Promise<void>
}

interface HostOptions {
  readonly settings: Settings
  readonly database: Store['database']
  /** Serve the HTTP APIs even without DEVNET_PORT, for processes that may know the URL of the former host. */
  readonly served: { readonly formerUrl: string | undefined } | undefined
  /** Current time in POSIX milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/** Opens the devnet whose chain is in a database, or starts a new chain there. */
export async function hostDevnet({
  settings,
  database,
  served,
  clock,
  log,
}: HostOptions): Promise<HostedDevnet> {
  const devnet = await createDevnet({
    store: createSqlStore({ database, schema: devnetSchema(settings) }),
    genesis: withBacking(testGenesis()),
    clock: { now: clock },
    onError: (err) => log.warn({ err }, 'The devnet failed to make a block; it retries'),
  })
  const server = fastify({
    ...lazySchemas(),
    forceCloseConnections: true,
    routerOptions,
  })
  server.addHook('onClose', () => devnet.close())
  const close = () => server.close()
  if (!served && settings.DEVNET_PORT === undefined) return { devnet, url: undefined, close }
  try {
    // Its pages are under development, and so of any origin.
    await server.register(cors, { origin: true })
    await server.register(devnetApis, {
      devnet,
      paths: { wallet: '/dev-wallet.js' },
      ogmiosVersion: settings.OGMIOS_VERSION,
      ogmiosStrictRpc: settings.OGMIOS_STRICT_RPC,
    })
    return { devnet, url: await listen(server, settings, served?.formerUrl, log), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Adds the ada that backs layer 2's genesis once the bridge has a treasury. */
function withBacking({ utxos, ...genesis }: ReturnType<typeof testGenesis>) {
  const [transactionId] = utxos[0]?.outref.split('#') ?? []
  const output = new CborWriter().map(2).uint(0).bytes(backingKeys().address.bytes).uint(1).uint(backing)
  const entry = { outref: `${transactionId}#${utxos.length}`, output: toHex(output.toBytes()) }
  return { ...genesis, utxos: [...utxos, entry] }
}

/**
 * Listens at DEVNET_PORT; without it at the port of the former host, or a free one. Returns the URL.
 * @throws StartError `NODE_LISTEN`
 */
async function listen(
  server: FastifyInstance,
  { HOST: host, PORT, DEVNET_PORT }: Settings,
  formerUrl: string | undefined,
  log: Logger,
): Promise<string> {
  const former = portOf(formerUrl)
  if (DEVNET_PORT !== undefined || former === 0 || former === PORT) {
    const place: Place = { host, port: DEVNET_PORT ?? 0, setting: 'DEVNET_PORT' }
    return server.listen(place).catch((cause: unknown) => {
      throw listenError(cause, place)
    })
  }
  try {
    return await server.listen({ host, port: former })
  } catch (err) {
    log.warn(
      { err, port: former },
      `The devnet was served at port ${former}, which is taken: it moves to a free port. Processes that ` +
        'know its URL need the new one; set DEVNET_PORT to keep it',
    )
    return server.listen({ host, port: 0 })
  }
}

/** 0 if there is none. */
function portOf(url: string | undefined): number {
  return url !== undefined && URL.canParse(url) ? Number(new URL(url).port) : 0
}
