import { type Client, NetworkError, TimeoutError } from '@ratatosk/client'
import type { Shell } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { type ConnectionOptions, connect } from '../frame/node-connection.js'
import type { Story } from './story.js'
import { openTemporaryFolder } from './temporary-folder.js'

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
export async function findNode(options: ConnectionOptions, shell: Shell, { say }: Story): Promise<DemoNode> {
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
