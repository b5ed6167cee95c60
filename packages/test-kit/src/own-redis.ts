import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from './free-port.js'

/** A Redis server that belongs to a test. */
export interface OwnRedis {
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts a Redis server that keeps nothing; undefined if the program is not installed.
 *
 * @param policy `maxmemory-policy`
 */
export async function ownRedis(policy: string): Promise<OwnRedis | undefined> {
  const port = await freePort()
  const nothing = ['--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--maxmemory-policy',
    policy,
    ...nothing,
  ])
  const isReady = await new Promise<boolean>((resolve) => {
    server.on('error', () => resolve(false))
    server.stdout.on('data', (line) => String(line).includes('Ready to accept') && resolve(true))
  })
  if (!isReady) return undefined
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      const exited = once(server, 'exit')
      server.kill()
      await exited
    },
  }
}
