import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, NetworkError, TimeoutError } from '@ratatosk/client'
import type { Shell } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { type ConnectionOptions, connect } from '../frame/node-connection.js'
import { runDemo } from './run-demo.js'
import type { Story } from './story.js'

/** Follows payments on a running node, or on one that it starts. @returns what happened */
export async function tellPayment(options: ConnectionOptions, shell: Shell, story: Story): Promise<object> {
  story.title('Ratatosk: a payment on layer 2, from submission to merge')
  const { client, isOwn, close } = await findNode(options, shell, story)
  try {
    const report = await runDemo(client, story)
    story.title('That is all. The demo can run again on the same node.\n')
    return { ...report, startedNode: isOwn }
  } finally {
    await close()
  }
}

/** Follows a fraud on nodes of its own. @returns what happened */
export async function tellFraud(options: ConnectionOptions, shell: Shell, story: Story): Promise<object> {
  story.title('Ratatosk: a fraud on layer 2, from the lie to the slashed bond')
  const folder = await openTemporaryFolder()
  try {
    const { runFraud, startNetwork } = await import('./fraud.js')
    story.say('The demo starts a devnet and three nodes, for as long as it runs.')
    const network = await startNetwork(folder.path, (url) => connect({ ...options, url }, shell))
    try {
      const report = await runFraud(network, story)
      story.title('That is all: the lie has cost its operator the bond, and no one else anything.\n')
      return report
    } finally {
      await network.close()
    }
  } finally {
    folder.remove()
  }
}

/** Follows money over the bridge and back, on a node of its own. @returns what happened */
export async function tellBridge(options: ConnectionOptions, shell: Shell, story: Story): Promise<object> {
  story.title('Ratatosk: 100 ada from layer 1 to layer 2, and 60 of them back')
  const folder = await openTemporaryFolder()
  try {
    const [{ runBridge }, { startLayer1 }, { readSettings, startNode }] = await Promise.all([
      import('./bridge.js'),
      import('./layer1.js'),
      import('@ratatosk/node'),
    ])
    story.say('The demo starts a devnet and a node, for as long as it runs.')
    const layer1 = await startLayer1()
    try {
      const settings = { ...layer1.settings, ...bridgeSettings, DATA_DIR: folder.path }
      const node = await startNode(readSettings(settings))
      try {
        const client = await connect({ ...options, url: node.url }, shell)
        const report = await runBridge(client, layer1.devnet, story)
        story.title('That is all: what left one layer came to the other, less the fees.\n')
        return report
      } finally {
        await node.close()
      }
    } finally {
      await layer1.close()
    }
  } finally {
    folder.remove()
  }
}

/** Waits are short; the wait for deposits is as short as that of blocks allows. */
const bridgeSettings = {
  PORT: '0',
  LOG_LEVEL: 'fatal',
  AUTO_INIT: 'false',
  MATURITY_WINDOW_MS: '5000',
  MERGE_INTERVAL_MS: '500',
  BLOCK_VALIDITY_MS: '5000',
  EVENT_WAIT_MS: '10000',
}

interface DemoNode {
  readonly client: Client
  /** Whether the demo started it. */
  readonly isOwn: boolean
  close(): Promise<void>
}

/**
 * The node of the options, by default at HOST and PORT, or else one in a temporary folder. An error status is
 * an answer too.
 * @throws UsageError or CommandError; ClientError if what answers is not a live node
 */
async function findNode(options: ConnectionOptions, shell: Shell, { say }: Story): Promise<DemoNode> {
  const client = await connect(options, shell)
  if (await isAlive(client)) {
    say('A node runs already.')
    return { client, isOwn: false, close: async () => undefined }
  }
  if (options.url !== undefined)
    throw new CommandError('CLI_NO_NODE', `No node answers at ${options.url}: \`ratatosk start\` starts one.`)
  say('No node answers. The demo starts one, for as long as it runs.')
  return startOwn(options, shell, say)
}

async function isAlive(client: Client): Promise<boolean> {
  try {
    await client.getLiveness({ retries: 0, timeoutMs: 2000 })
    return true
  } catch (error) {
    if (error instanceof NetworkError || error instanceof TimeoutError) return false
    throw error
  }
}

async function startOwn(options: ConnectionOptions, shell: Shell, say: Story['say']): Promise<DemoNode> {
  const folder = await openTemporaryFolder()
  try {
    // Most demos have a node.
    const { loadNode } = await import('@ratatosk/node/bundled')
    const { readSettings, startNode } = await loadNode()
    const { MATURITY_WINDOW_MS } = shell.environment
    const settings = { DATA_DIR: folder.path, PORT: '0', LOG_LEVEL: 'error', MATURITY_WINDOW_MS }
    const node = await startNode(readSettings(settings))
    say(`It is up at ${node.url}.`)
    return {
      client: await connect({ ...options, url: node.url }, shell),
      isOwn: true,
      close: () => node.close().finally(folder.remove),
    }
  } catch (error) {
    folder.remove()
    throw error
  }
}

interface TemporaryFolder {
  readonly path: string
  remove(): void
}

/** They end the demo with the status of a shell: 129, 130, 143. */
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Creates a folder that is removed when it is no longer needed, or a signal ends the process. */
async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'ratatosk-demo-'))
  const cleanUp = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  const interrupt = (_: NodeJS.Signals, signal: number) => {
    cleanUp()
    process.exit(128 + signal)
  }
  for (const signal of signals) process.on(signal, interrupt)
  return {
    path,
    remove() {
      for (const signal of signals) process.off(signal, interrupt)
      cleanUp()
    },
  }
}
