import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface TemporaryFolder {
  readonly path: string
  remove(): void
}

/** They end the demo with the status of a shell: 129, 130, 143. */
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** Creates a folder that is removed when it is no longer needed, or a signal ends the process. */
export async function openTemporaryFolder(): Promise<TemporaryFolder> {
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
