// The example as its user runs it: the node's settings, its plugins, and one more row.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { embedded } from '../apps/node/dist/test/backends.js'
import { testWallets } from '../packages/devnet/dist/index.js'

const main = fileURLToPath(new URL('own-plugin/node.js', import.meta.url))

/** Starts the example until the test ends; resolves to its address, the last line of its start. */
async function start(t, environment) {
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...(await embedded(t)), PORT: '0', LOG_LEVEL: 'silent', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  t.teardown(async () => {
    child.kill()
    await exit
  })
  for await (const line of createInterface(child.stdout)) if (line.startsWith('http://')) return line
  throw new Error('the example ended before it listened')
}

t.test('a row adds a route to a node', async (t) => {
  const url = await start(t, {})
  const ask = async (path) => {
    const response = await fetch(url + path)
    return { status: response.status, body: await response.json() }
  }
  const [wallet] = testWallets.wallets
  t.same(await ask(`/balance?address=${wallet.address}`), {
    status: 200,
    body: { lovelace: '200000000000', outputs: 20 },
  })
  t.equal((await ask('/balance')).status, 400)
  t.equal((await ask('/balance?address=addr1misspelt')).status, 400)
  t.equal((await ask('/health/live')).status, 200, 'the plugins of the node are there')
  const { body } = await ask('/openapi.json')
  t.match(body.paths['/balance'].get, {
    operationId: 'getBalance',
    summary: 'Sum of the lovelace at an address',
  })
})

t.test('a process whose role the row leaves out answers the uniform 404', async (t) => {
  const url = await start(t, {
    NODE_ROLE: 'archivist',
    ARCHIVIST_PEERS: 'http://127.0.0.1:9/archivist',
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: 'http://127.0.0.1:9',
  })
  const response = await fetch(`${url}/balance?address=x`)
  t.equal(response.status, 404)
  t.same(await response.json(), { error: 'Not Found', code: 'DISABLED' })
})
