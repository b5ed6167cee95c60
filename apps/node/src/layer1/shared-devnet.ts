import { setTimeout as sleep } from 'node:timers/promises'
import { createBlockfrostLayer1, createDevnetLayer1, type Layer1, Layer1Error } from '@ratatosk/layer1'
import type { Lease, Store } from '@ratatosk/store'
import type { Logger } from 'pino'
import type { HostedDevnet } from './devnet-host.js'

/** Who runs the devnet, and where it is: two leases, because the address is known only once it runs. */
const hostLease = 'devnet'
const addressLease = 'devnet-address'
const leaseMs = 6000
const beatMs = 2000
/** How long a call waits for a host that is being opened. */
const patienceMs = 5000

export interface SharedDevnetOptions {
  readonly leases: Store['leases']
  /** Runs the devnet here; undefined for a role that only uses it. */
  readonly host: (() => Promise<HostedDevnet>) | undefined
  readonly networkMagic: number
  readonly log: Logger
}

/**
 * One devnet for all processes on one database. A process that may hosts it while nobody else does; the chain is in the
 * database, so when that process ends, the next one goes on with it. The others reach it by HTTP, at the address that the host
 * has left in the database.
 */
export class SharedDevnet {
  readonly #options: SharedDevnetOptions
  readonly #abort = new AbortController()
  #hosted: { readonly devnet: HostedDevnet; readonly layer1: Layer1 } | undefined
  #remote: { readonly url: string; readonly layer1: Layer1 } | undefined
  #leases: Lease[] = []
  #beating: Promise<void> = Promise.resolve()

  constructor(options: SharedDevnetOptions) {
    this.#options = options
  }

  /** Begins to look after the devnet, or for whoever does. */
  async start(): Promise<void> {
    await this.#beat()
    this.#beating = this.#beats()
  }

  /** Where the devnet is; undefined while nobody runs it. */
  async url(): Promise<string | undefined> {
    return this.#hosted?.devnet.url ?? (await this.#options.leases.current(addressLease))?.holder
  }

  /** Layer 1 as it can be reached now. */
  async layer1(): Promise<Layer1> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      if (this.#hosted !== undefined) return this.#hosted.layer1
      const url = await this.url()
      if (url !== undefined) return this.#reach(url)
      if (this.#abort.signal.aborted || performance.now() > deadline) {
        throw new Layer1Error(
          'unreachable',
          'No process runs the devnet: start one with NODE_ROLE all or sequencer on this database',
        )
      }
      await pause(100, this.#abort.signal)
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#beating
    await this.#stepDown()
  }

  async #beats(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      await pause(beatMs, this.#abort.signal)
      if (this.#abort.signal.aborted) return
      await this.#beat()
    }
  }

  async #beat(): Promise<void> {
    const { host, log } = this.#options
    if (host === undefined) return
    try {
      if (this.#hosted === undefined) await this.#takeOver(host)
      else await this.#renew()
    } catch (err) {
      log.warn({ err }, 'The devnet cannot be run by this process now; it tries again')
    }
  }

  async #takeOver(host: () => Promise<HostedDevnet>): Promise<void> {
    const { leases, log } = this.#options
    const lease = await leases.acquire(hostLease, String(process.pid), leaseMs)
    if (lease === undefined) return
    this.#leases = [lease]
    try {
      const devnet = await host()
      this.#hosted = { devnet, layer1: createDevnetLayer1(devnet.devnet) }
      const address = await leases.acquire(addressLease, devnet.url ?? '', leaseMs)
      if (address === undefined) throw new Error('the address of an earlier host is still there')
      this.#leases.push(address)
      log.info({ devnet: devnet.url }, 'This process runs the devnet')
    } catch (error) {
      await this.#stepDown()
      throw error
    }
  }

  async #renew(): Promise<void> {
    const renewed = await Promise.all(this.#leases.map((lease) => this.#options.leases.renew(lease, leaseMs)))
    if (renewed.every((lease) => lease !== undefined)) return
    this.#options.log.warn('Another process has taken the devnet over')
    await this.#stepDown()
  }

  async #stepDown(): Promise<void> {
    const [hosted, leases] = [this.#hosted, this.#leases]
    this.#hosted = undefined
    this.#leases = []
    await hosted?.devnet.close()
    await Promise.allSettled(leases.map((lease) => this.#options.leases.release(lease)))
  }

  #reach(url: string): Layer1 {
    if (this.#remote?.url !== url) {
      const layer1 = createBlockfrostLayer1({
        url: `${url}/blockfrost/api/v0`,
        networkMagic: this.#options.networkMagic,
        pollMs: 200,
        attempts: 2,
      })
      this.#remote = { url, layer1 }
    }
    return this.#remote.layer1
  }
}

/** Ends early, without an error, when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
