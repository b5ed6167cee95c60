import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@ratatosk/client'
import { createDevnet, type Devnet, type DevnetOptions, devnetApis, testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { type RunningNode, readSettings, startNode } from '@ratatosk/node'
import { databaseUrl, inDatabase, randomName, whyMissing } from '@ratatosk/test-kit'
import { fastify } from 'fastify'
import { devnetFunds, openBuilder } from '../layer2/layer2.js'

type Place = Readonly<Record<string, string>>

/** Runs `work` with a node in this place. */
export async function withNode<T>(
  place: Place,
  work: (url: string, store: RunningNode['store']) => Promise<T>,
): Promise<T> {
  const manual = {
    AUTO_COMMIT: 'false',
    AUTO_INIT: 'false',
    SERVE_DOCS: 'false',
    // The machine is overloaded while it runs many tests.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const node = await startNode(readSettings({ ...manual, ...place }))
  try {
    return await work(node.url, node.store)
  } finally {
    await node.close()
  }
}

/** An account without funds. */
export const receiver = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 99 }).addressText

/** Pays so many times, each from another output; returns the hashes of the accepted transactions. */
export async function pay(url: string, count: number): Promise<readonly string[]> {
  const client = createClient(url)
  const builder = await openBuilder(client)
  const hashes: string[] = []
  for (let n = 0; n < count; n++) {
    const funds = await devnetFunds(client, 10_000_000n)
    if (funds === undefined) throw new Error('The devnet has no funds')
    const { transaction, txHash } = await builder.pay({ ...funds, to: receiver, lovelace: 2_000_000n })
    await client.submit(transaction)
    await client.awaitTx(txHash)
    hashes.push(txHash)
  }
  return hashes
}

/** Where a node keeps its data. */
export interface AnyPlace {
  /** Settings, without the URL of the database, which may hold a password. */
  readonly settings: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** PostgreSQL, on which a node starts fastest, or a folder alone where it is missing. */
export async function anyPlace(): Promise<AnyPlace> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  const removeFolder = () => rm(DATA_DIR, { recursive: true, force: true })
  if ((await whyMissing('PostgreSQL')) !== undefined)
    return { settings: { DATA_DIR }, secrets: {}, remove: removeFolder }
  const schema = randomName()
  const schemas = ['', '_queue', '_index', '_devnet'].map((end) => schema + end)
  return {
    settings: { DATA_DIR, DATABASE_SCHEMA: schema },
    secrets: { DATABASE_URL: databaseUrl },
    async remove() {
      await inDatabase(schemas.map((name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`).join(';'))
      await removeFolder()
    },
  }
}

/** A layer 1 that the test owns. */
export interface TestLayer1 {
  readonly devnet: Devnet
  /** Settings with which a node reaches it. */
  readonly settings: Readonly<Record<string, string>>
  /** Base URL of its control API. */
  readonly controlUrl: string
  close(): Promise<void>
}

/** Slots and blocks are short, so that tests wait little. */
export async function testLayer1(options: Pick<DevnetOptions, 'genesis'> = {}): Promise<TestLayer1> {
  const devnet = await createDevnet({
    blockEveryMs: 50,
    slotLengthMs: 50,
    securityParameter: 1000,
    ...options,
  })
  const server = fastify({ forceCloseConnections: true })
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false, control: '/devnet' } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` },
    controlUrl: `${url}/devnet`,
    async close() {
      await server.close()
      await devnet.close()
    },
  }
}

/** A node that `ratatosk start` runs, as a process. */
export interface StartedNode {
  readonly url: string
  /** A file with its OPERATOR_TOKEN. */
  readonly tokenFile: string
  /** Sends SIGTERM. Resolves with the exit status. */
  stop(): Promise<number | null>
  /** Sends SIGKILL, and starts another process on what it leaves behind. */
  killed(): Promise<StartedNode>
}

type Settings = Readonly<Record<string, string>>

/** Starts a node by a configuration file. `secrets` are in its environment. */
export async function startedNode(settings: Settings, secrets: Settings = {}): Promise<StartedNode> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, 'an-operator\n')
  const all = {
    PORT: '0',
    DATA_DIR: join(directory, 'data'),
    OPERATOR_TOKEN_FILE: tokenFile,
    // The machine is overloaded while it runs many tests.
    MAX_EVENT_LOOP_DELAY_MS: '0',
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\n`)
  await writeFile(join(directory, 'node.yaml'), lines.join(''))
  return startIn(directory, secrets)
}

async function startIn(directory: string, secrets: Settings): Promise<StartedNode> {
  const main = new URL('../../dist/main.js', import.meta.url).pathname
  const options = ['start', '--config', join(directory, 'node.yaml'), '--json']
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...secrets },
  })
  const exit = once(child, 'exit')
  return {
    url: await urlIn(child.stdout),
    tokenFile: join(directory, 'token'),
    async stop() {
      child.kill('SIGTERM')
      const [status] = await exit
      await rm(directory, { recursive: true, force: true })
      return status
    },
    async killed() {
      child.kill('SIGKILL')
      await exit
      return startIn(directory, secrets)
    },
  }
}

/** The URL of the line that says that the node is up. */
async function urlIn(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const { msg, url } = JSON.parse(line)
    if (msg !== 'Ratatosk is up') continue
    log.resume()
    return url
  }
  throw new Error('The node did not start')
}
