import { setTimeout as sleep } from 'node:timers/promises'
import { quoteSchema } from '@ratatosk/database'
import type { Devnet } from '@ratatosk/devnet'
import {
  createBlockfrostLayer1,
  createDevnetLayer1,
  createKupmiosLayer1,
  isLayer1Error,
  type Layer1,
  Layer1Error,
  type Layer1Limits,
} from '@ratatosk/layer1'
import type { HeldLease, Store } from '@ratatosk/store'
import type { Logger } from 'pino'
import type { NodeContext } from '../context.js'
import { isStartError } from '../errors.js'
import type { Network } from '../network/network.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { checkStoreAt, type Storage } from '../storage/open-storage.js'
import { type HostedDevnet, hostDevnet } from './devnet-host.js'

export interface OpenedLayer1 {
  readonly layer1: Layer1
  /** Where it is, for people; without credentials. */
  readonly place: string
  /** The devnet, while this process hosts it. */
  readonly devnet?: () => Devnet | undefined
  /** Why no process hosts the devnet, for people; undefined while one does. */
  readonly hostFault?: () => string | undefined
}

/** Connects to the layer 1 of the settings, and hosts the devnet if no other process does. */
export async function openLayer1(context: NodeContext, storage: Storage): Promise<OpenedLayer1> {
  return (
    connectProvider(context, { log: context.log }) ??
    (storage.embedded === undefined
      ? openSharedDevnet(context, storage)
      : openEmbeddedDevnet(context, storage.store))
  )
}

/** Layer 1 by the provider of the settings; undefined for a devnet of the node. It sends no request. */
export function connectProvider(
  { settings, network }: Pick<NodeContext, 'settings' | 'network'>,
  others: Layer1Limits & { readonly log?: Logger } = {},
): OpenedLayer1 | undefined {
  const options = { networkMagic: network.magic, ...others }
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

/** As {@link connectProvider}, of the devnet that a process of the same database hosts. */
export async function connectHosted(
  { settings, network }: Pick<NodeContext, 'settings' | 'network'>,
  limits: Layer1Limits = {},
): Promise<OpenedLayer1 | undefined> {
  const { DATABASE_URL, DATABASE_SCHEMA: schema } = settings
  const url = DATABASE_URL && (await hostOf({ url: DATABASE_URL, schema }))
  return url ? { layer1: devnetAt(url, network, limits), place: `devnet at ${url}` } : undefined
}

/** The devnet by its HTTP API, whose errors name it. */
function devnetAt(url: string, network: Network, limits: Layer1Limits): Layer1 {
  const networkMagic = network.magic
  const layer1 = createBlockfrostLayer1({ ...limits, url: `${url}/blockfrost/api/v0`, networkMagic })
  const named = (error: unknown): never => {
    if (isLayer1Error(error)) error.message = error.message.replace('Blockfrost', `The devnet at ${url}`)
    throw error
  }
  return new Proxy(layer1, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...call: unknown[]) => member.apply(target, call).catch(named)
    },
  })
}

/** An embedded store belongs to one process, and so does its devnet. */
async function openEmbeddedDevnet(
  { settings, clock, log, onClose }: NodeContext,
  { database }: Storage['store'],
): Promise<OpenedLayer1> {
  const hosted = await hostDevnet({ settings, database, served: undefined, clock, log })
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
  { settings, duties, network, clock, log, onClose }: NodeContext,
  { store }: Storage,
): Promise<OpenedLayer1> {
  const shared = new SharedDevnet({
    leases: store.leases,
    host: duties.sequences
      ? (formerUrl) => hostDevnet({ settings, database: store.database, served: { formerUrl }, clock, log })
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
    hostFault: () => shared.fault,
    place: url === undefined ? 'devnet, which no process hosts yet' : `devnet at ${url}`,
  }
}

/** Two leases, because the host's address is known only after the devnet is open. */
const hostLease = 'devnet'
const addressLease = 'devnet-address'
const leaseMs = 6000
const takeOverEveryMs = 2000
/** How long a call waits for a host that is starting. */
const hostTimeoutMs = 5000
const hostPollMs = 100

/** URL of the process that hosts the devnet of a store; undefined if none is known. */
export async function hostOf(place: { readonly url: string; readonly schema: string }) {
  let url: string | undefined
  try {
    await checkStoreAt(place, async ({ database }) => {
      const { rows } = await database.run(
        `SELECT holder FROM ${quoteSchema(place.schema)}.leases
        WHERE name = $1 AND expires_at > clock_timestamp()`,
        [addressLease],
      )
      url = (rows[0] as { readonly holder: string } | undefined)?.holder || undefined
    })
  } catch (error) {
    // The findings about the database say it.
    if (!isStartError(error)) throw error
  }
  return url
}

interface SharedDevnetOptions {
  readonly leases: Store['leases']
  /** Hosts the devnet here, if possible at its former URL; undefined for a role that only uses it. */
  readonly host: ((formerUrl: string | undefined) => Promise<HostedDevnet>) | undefined
  readonly network: Network
  readonly log: Logger
}

/**
 * One devnet for all processes on one database, which holds the chain. A lease elects the host; a second one
 * publishes its address. The next host takes the same port if it can: archivists know only the URL.
 */
class SharedDevnet {
  readonly #options: SharedDevnetOptions
  readonly #abort = new AbortController()
  #hosted: { readonly devnet: HostedDevnet; readonly layer1: Layer1 } | undefined
  #remote: { readonly url: string; readonly layer1: Layer1 } | undefined
  #leases: HeldLease[] = []
  #hosting: Promise<void> = Promise.resolve()
  /** Whether a call has found no host, and none since. */
  #isAway = false
  /** Why this process failed to host the devnet, since it last did; `shown` has no credentials. */
  #failure: { readonly reason: string; readonly shown: string } | undefined

  /** The devnet as a layer 1; each call goes to the process that hosts it at that time. */
  readonly layer1: Layer1

  constructor(options: SharedDevnetOptions) {
    this.#options = options
    const { id } = options.network
    this.layer1 = {
      name: 'devnet',
      networkId: id,
      utxosAt: async (...call) => (await this.#current()).utxosAt(...call),
      utxosAsOf: async (...call) => (await this.#current()).utxosAsOf(...call),
      utxosByUnit: async (...call) => (await this.#current()).utxosByUnit(...call),
      utxosByPolicy: async (...call) => (await this.#current()).utxosByPolicy(...call),
      utxosByReferences: async (...call) => (await this.#current()).utxosByReferences(...call),
      spending: async (...call) => (await this.#current()).spending(...call),
      parameters: async (...call) => (await this.#current()).parameters(...call),
      tip: async (...call) => (await this.#current()).tip(...call),
      slots: async (...call) => (await this.#current()).slots(...call),
      currentSlot: async (...call) => (await this.#current()).currentSlot(...call),
      submit: async (...call) => (await this.#current()).submit(...call),
      status: async (...call) => (await this.#current()).status(...call),
      await: async (...call) => (await this.#current()).await(...call),
      evaluate: async (...call) => (await this.#current()).evaluate(...call),
    }
  }

  /** Hosts the devnet, or watches the process that does. */
  async start(): Promise<void> {
    await this.#hostUnlessLost()
    this.#hosting = this.#keepHosting()
  }

  /** URL of the devnet's APIs; undefined while no process hosts it. */
  async url(): Promise<string | undefined> {
    return this.#hosted?.devnet.url ?? (await this.#options.leases.current(addressLease))?.holder
  }

  /** The devnet, while this process hosts it. */
  get hosted(): Devnet | undefined {
    return this.#hosted?.devnet.devnet
  }

  /** Why no process hosts the devnet, as far as it is known here; undefined while one does. */
  get fault(): string | undefined {
    if (!this.#isAway || this.#hosted !== undefined) return undefined
    if (this.#options.host === undefined)
      return 'No process hosts the devnet. Start one with NODE_ROLE "all" or "sequencer" on this database.'
    return this.#failure === undefined
      ? 'No process hosts the devnet yet. This one does once the lease of its former host has ended.'
      : `No process hosts the devnet, and this one fails to: ${this.#failure.shown}`
  }

  async #current(): Promise<Layer1> {
    const deadline = performance.now() + hostTimeoutMs
    for (;;) {
      if (this.#hosted !== undefined) return this.#hosted.layer1
      const url = await this.url()
      this.#isAway = url === undefined
      if (url !== undefined) return this.#remoteAt(url)
      if (this.#abort.signal.aborted || performance.now() > deadline)
        throw new Layer1Error('LAYER1_UNREACHABLE', this.fault ?? 'The devnet moves to another host.')
      await pause(hostPollMs, this.#abort.signal)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#hosting
    await this.#stepDown()
  }

  async #keepHosting(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const { signal } = this.#abort
      const lost = this.#leases.map((lease) => lease.lost)
      await pause(takeOverEveryMs, AbortSignal.any([signal, ...lost]))
      if (signal.aborted) return
      await this.#hostUnlessLost()
    }
  }

  /** Steps down if a lease is lost; hosts the devnet if no other process does. */
  async #hostUnlessLost(): Promise<void> {
    const { host, log } = this.#options
    if (host === undefined) return
    try {
      if (this.#hosted === undefined) await this.#takeOver(host)
      else if (this.#leases.some(({ lost }) => lost.aborted)) {
        log.warn('Lost the lease on the devnet: another process hosts it')
        await this.#stepDown()
      }
    } catch (err) {
      const reason = err instanceof Error ? err.message : String(err)
      // One line per cause, not per attempt.
      if (reason !== this.#failure?.reason)
        log.warn({ err }, `This process failed to host the devnet; it retries: ${reason}`)
      this.#failure = { reason, shown: isStartError(err) ? reason : 'see its log.' }
    }
  }

  async #takeOver(host: NonNullable<SharedDevnetOptions['host']>): Promise<void> {
    const { leases, log } = this.#options
    const lease = await leases.hold(hostLease, String(process.pid), leaseMs)
    if (lease === undefined) return
    this.#leases = [lease]
    try {
      const former = await leases.newest(addressLease)
      const devnet = await host(former?.holder)
      this.#hosted = { devnet, layer1: createDevnetLayer1(devnet.devnet) }
      const address = await leases.hold(addressLease, devnet.url ?? '', leaseMs)
      if (address === undefined) throw new Error('The lease of the previous host has not expired')
      this.#leases.push(address)
      this.#failure = undefined
      log.info({ devnet: devnet.url }, 'This process hosts the devnet')
    } catch (error) {
      await this.#stepDown()
      throw error
    }
  }

  async #stepDown(): Promise<void> {
    const [hosted, leases] = [this.#hosted, this.#leases]
    this.#hosted = undefined
    this.#leases = []
    await hosted?.devnet.close()
    await Promise.allSettled(leases.map((lease) => lease.release()))
  }

  #remoteAt(url: string): Layer1 {
    if (this.#remote?.url !== url) {
      const layer1 = devnetAt(url, this.#options.network, { pollMs: 200, attempts: 2 })
      this.#remote = { url, layer1 }
    }
    return this.#remote.layer1
  }
}

/** Ends early, without an error, if the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** The remedy for an error of the layer-1 provider that the settings name. */
export function remedyOfLayer1(
  code: string,
  { LAYER1_PROVIDER, NETWORK }: Pick<Settings, 'LAYER1_PROVIDER' | 'NETWORK'>,
): string {
  const url = LAYER1_PROVIDER === 'blockfrost' ? 'BLOCKFROST_URL' : 'KUPO_URL and OGMIOS_URL'
  switch (code) {
    case 'LAYER1_UNREACHABLE':
    case 'LAYER1_TIMEOUT':
      return NETWORK === 'devnet'
        ? `Start it, or correct ${url}: a sequencer that takes over, with another address or DEVNET_PORT, ` +
            'moves the devnet.'
        : `Start it, or correct ${url}.`
    case 'LAYER1_WRONG_NETWORK':
      return `NETWORK is ${NETWORK}: correct NETWORK or ${url}.`
    case 'LAYER1_UNAUTHORIZED':
      return 'Correct BLOCKFROST_PROJECT_ID.'
    case 'LAYER1_RATE_LIMITED':
      return 'Wait, or use a project with a higher limit.'
    default:
      return `Check ${url}.`
  }
}
