// Processes of the node, each with a port of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { defer } from './services.mjs'

const patienceMs = 20_000

/** A Redis for figures needs to survive nothing. */
const knownWarnings = new Set(['QUEUE_REDIS_NOT_PERSISTENT', 'QUEUE_REDIS_MAY_EVICT', 'STORE_SLOW_SETTING'])

/** This checkout. */
export const here = join(import.meta.dirname, '../..')

/**
 * Starts a node and waits until it serves; {@link cleanUp} ends it.
 *
 * @param {object} environment
 * @param {string} checkout whose node it is; it must be built
 * @param {(line: object) => void} heard gets what the node logs
 */
export async function startNodeProcess(environment, checkout = here, heard = () => undefined) {
  const main = join(checkout, 'apps/node/dist/main.js')
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-node-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  // As `npm start` starts it.
  const { nodeOptions = [] } = await import(pathToFileURL(join(checkout, 'scripts/launch.mjs')))
  const given = process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []
  const child = spawn(process.execPath, [...nodeOptions, ...given, main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'warn',
      DATA_DIR: folder,
      ...environment,
    },
  })
  const ended = once(child, 'close')
  defer(async () => {
    child.kill('SIGTERM')
    const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    await ended
    clearTimeout(impatience)
  })
  const { NODE_ROLE: role = 'all' } = environment
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    ended.then(() => reject(new Error(`the node with role ${role} has ended before it was up`)))
    const told = new Set()
    createInterface({ input: child.stdout }).on('line', (line) => {
      const logged = JSON.parse(line)
      const { url, msg, level, code, err } = logged
      if (url !== undefined) resolve({ url, role, pid: child.pid, folder })
      heard(logged)
      if (level < 40 || knownWarnings.has(code)) return
      const said = `  ${role}: ${msg}${err ? ` (${err.message})` : ''}`.replaceAll(
        /[\w-]*\d[\w-]{7,}|job \S+/g,
        '…',
      )
      if (!told.has(said)) console.log(said)
      told.add(said)
    })
  })
}
