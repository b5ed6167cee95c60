import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { readSettings, startNode } from '@ratatosk/node'
import { say } from './story.js'

/**
 * The node at RATATOSK_URL; else the one at the default address, or, if none answers there, one of its own in
 * a temporary directory.
 */
export async function findNode() {
  const { RATATOSK_URL, PORT } = process.env
  const url = (RATATOSK_URL || `http://127.0.0.1:${PORT || '3000'}`).replace(/\/$/, '')
  if (await isNode(url)) {
    say(`The node at ${url} is up.`)
    return { client: createClient(url), close: async () => undefined }
  }
  if (RATATOSK_URL)
    throw new Error(`No node answers at ${url}, which RATATOSK_URL names. \`npm start\` starts one.`)
  say(`No node answers at ${url}: this demo starts one of its own, for as long as it runs.`)
  return startOwn()
}

async function isNode(url) {
  try {
    const response = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(2000) })
    return response.ok && (await response.text()) === '{"status":"ok"}'
  } catch {
    return false
  }
}

async function startOwn() {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-demo-'))
  const cleanUp = () => rm(directory, { recursive: true, force: true })
  try {
    const { MATURITY_WINDOW_MS } = process.env
    const settings = { DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'error', MATURITY_WINDOW_MS }
    const node = await startNode(readSettings(settings))
    say(`It is up at ${node.url}.`)
    return {
      client: createClient(node.url),
      close: async () => {
        await node.close()
        await cleanUp()
      },
    }
  } catch (error) {
    await cleanUp()
    throw error
  }
}
