import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

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
