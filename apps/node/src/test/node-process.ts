import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
/** The program that `npm start` runs after the build, and the text of it for `node -e`. */
const launcher = new URL('../../../../scripts/launch.mjs', import.meta.url).href
export const launch = `import('${launcher}').then(({ launch }) => launch('apps/node/dist/main.js', []))`

/** A node in its own process, as `npm start` runs it. */
export interface NodeProcess {
  readonly url: string
  readonly pid: number
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Everything that it has written so far. */
  output(): string
  /** Sends a signal and waits for the end; returns the exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

interface NodeProcessGroup extends NodeProcess {
  /** Sends a signal to all processes of the group, as Ctrl-C in a terminal does. Default: SIGKILL. */
  kill(signal?: NodeJS.Signals): void
  /** The same, and waits for the end as `stop` does. */
  stopAll(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

interface Ended {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Starts a node with a Node binary and waits until it prints its address. */
export async function spawnNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
  program = process.execPath,
): Promise<NodeProcess> {
  return nodeProcess(run(t, [main], environment, { program }))
}

/** Starts a node through a program that replaces itself by it, and waits for its address. */
export async function spawnThrough(
  t: Test,
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<NodeProcess> {
  return nodeProcess(run(t, [...args, process.execPath, main], environment, { program }))
}

/** Starts a node as `npm start` does, in its own process group, and waits for its address. */
export async function spawnGroup(
  t: Test,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = ['-e', launch],
): Promise<NodeProcessGroup> {
  const group = run(t, args, environment, { detached: true })
  const node = await nodeProcess(group)
  return {
    ...node,
    kill: group.kill,
    stopAll(signal) {
      group.kill(signal)
      return node.ended
    },
  }
}

async function nodeProcess({ child, streams, ended, started }: ReturnType<typeof run>): Promise<NodeProcess> {
  const code = ended.then((end) => end.code)
  return {
    url: await started(),
    pid: child.pid ?? 0,
    ended: code,
    output: () => streams.stdout + streams.stderr,
    stop(signal) {
      child.kill(signal)
      return code
    },
  }
}

export async function failedStart(
  t: Test,
  environment: Readonly<Record<string, string>>,
  [program, ...args]: readonly string[] = [],
): Promise<Ended> {
  if (program === undefined) return run(t, [main], environment).ended
  return run(t, [...args, process.execPath, main], environment, { program }).ended
}

/** @param detached whether the process leads its own group */
function run(
  t: Test,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { program = process.execPath, detached = false } = {},
) {
  const child: ChildProcess = spawn(program, args, {
    detached,
    stdio: ['ignore', 'pipe', 'pipe'],
    // With NODE_OPTIONS, the hook that compares answers with docs/openapi.json.
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      PORT: '0',
      LOG_FORMAT: 'json',
      // The machine is overloaded while it runs many tests.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      ...environment,
    },
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
  const isRunning = () => child.exitCode === null && child.signalCode === null
  /** Does not wait for the end. */
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    // A negative id means the group.
    if (detached && child.pid !== undefined && isRunning()) process.kill(-child.pid, signal)
    else child.kill(signal)
  }
  t.teardown(async () => {
    kill()
    await ended
  })
  const started = async () => {
    const url = new Promise<string>((resolve) => {
      child.stdout?.on('data', () => {
        const found = /"url":"([^"]+)"/.exec(streams.stdout)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    const failed = ended.then(({ code, stderr }) => {
      throw new Error(`The node ended with ${code} before it was up: ${stderr}`)
    })
    failed.catch(() => undefined)
    return Promise.race([url, failed])
  }
  return { child, streams, ended, started, kill }
}
