import { createClient } from '@ratatosk/client'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { openStore, type Store } from '@ratatosk/store'
import { freePort } from '@ratatosk/test-kit'
import type { Test } from 'tap'
import { onServices } from '../backends.js'
import { type DevnetServer, devnetWallets } from '../devnet-server.js'
import { initialised } from '../node.js'
import { type NodeProcess, spawnNode } from '../node-process.js'

/** Of the operators after the first, who is the devnet's. */
const phrases = [`${'abandon '.repeat(23)}art`, `${'zoo '.repeat(23)}vote`]

/** The node of an operator: a process with a database of its own. */
export interface OperatorNode {
  /** `A`, `B`, … */
  readonly name: string
  readonly url: string
  readonly store: Store
  readonly schema: string
  readonly isUp: boolean
  start(): Promise<void>
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Registers its operator, and begins the queue if there is none. */
  join(): Promise<void>
}

/** Nodes on one layer 1 that know each other. None is started. */
export async function openOperatorNodes(
  t: Test,
  layer1: DevnetServer,
  settings: Readonly<Record<string, string>>,
): Promise<readonly OperatorNode[]> {
  const { port, walletOf } = devnetWallets(t, layer1.devnet)
  const addresses = phrases.map((phrase) => keysFromSeedPhrase(phrase, { networkId: 0 }).addressText)
  const outputs = addresses.flatMap((address) =>
    Array.from({ length: 5 }, () => ({ address, lovelace: 1_000_000_000n })),
  )
  await port.await((await walletOf(3).send({ outputs })).id)
  const ports = [await freePort(), await freePort(), await freePort()]
  const urls = ports.map((each) => `http://127.0.0.1:${each}`)
  return Promise.all(
    urls.map(async (url, own) => {
      const peers = urls.filter((_, place) => place !== own)
      const phrase = phrases[own - 1]
      return operatorNode(t, 'ABC'[own] ?? '', url, {
        ...layer1.settings,
        ...settings,
        PORT: String(ports[own]),
        AUTO_INIT: 'false',
        ...(phrase && { OPERATOR_SEED_PHRASE: phrase }),
        ARCHIVIST_PEERS: peers.map((peer) => `${peer}/archivist`).join(','),
        OPERATOR_PEERS: peers.join(','),
      })
    }),
  )
}

async function operatorNode(
  t: Test,
  name: string,
  url: string,
  settings: Readonly<Record<string, string>>,
): Promise<OperatorNode> {
  const services = await onServices()
  const placement = await services.place(t)
  const { DATABASE_URL = '', DATABASE_SCHEMA: schema = '' } = placement
  const store = await openStore({ url: DATABASE_URL, schema })
  t.teardown(() => store.close())
  let running: NodeProcess | undefined
  return {
    name,
    url,
    store,
    schema,
    get isUp() {
      return running !== undefined
    },
    async start() {
      running = await spawnNode(t, { ...placement, ...settings })
    },
    async stop(signal) {
      const ended = running
      running = undefined
      await ended?.stop(signal)
    },
    async join() {
      await createClient(url).init()
      await initialised(url)
    },
  }
}
