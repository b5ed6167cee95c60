import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const main = fileURLToPath(new URL('../main.js', import.meta.url))

/** A node in a process of its own, as `npm start` runs it. */
export interface NodeProcess {
  readonly url: string
  readonly pid: number
  /** Everything that it has written so far. */
  output(): string
  /** Sends a signal and waits for the end; returns the exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

interface Ended {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Starts a node and waits until it says where it is. */
export async function spawnNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
): Promise<NodeProcess> {
  const { child, streams, ended } = run(t, environment)
  const started = new Promise<string>((resolve) => {
    child.stdout?.on('data', () => {
      const url = /"url":"([^"]+)"/.exec(streams.stdout)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const failed = ended.then(({ code, stderr }) => {
    throw new Error(`The node ended with ${code} before it was up: ${stderr}`)
  })
  const url = await Promise.race([started, failed])
  failed.catch(() => undefined)
  return {
    url,
    pid: child.pid ?? 0,
    output: () => streams.stdout + streams.stderr,
    async stop(signal) {
      child.kill(signal)
      return (await ended).code
    },
  }
}

/** Starts a node that is to end by itself. */
export async function failedStart(t: Test, environment: Readonly<Record<string, string>>): Promise<Ended> {
  return run(t, environment).ended
}

function run(t: Test, environment: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, PORT: '0', LOG_FORMAT: 'json', ...environment },
  })
  const streams = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      streams[name] += text
    })
  }
  const ended = once(child, 'close').then(
    ([code, signal]): Ended => ({ code: code ?? signal, stdout: streams.stdout, stderr: streams.stderr }),
  )
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, streams, ended }
}
