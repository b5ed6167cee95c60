import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

// The examples, as their users have them: installed from tarballs into an empty folder, outside of the workspace.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const examples = ['submit-own-queue', 'query-two-ledgers']
const packages = ['http', 'ledger', 'submit', 'tx-query']
const servers: ChildProcess[] = []
let folder: string

interface Manifest {
  packageManager: string
  dependencies: Record<string, string>
}

const readManifest = async (path: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratatosk-embedding-'))
  const { packageManager } = await readManifest(root)
  const dependencies: Record<string, string> = {}
  for (const name of packages) {
    const pack = ['--yes', packageManager, 'pack', '--json', '--pack-destination', folder]
    const { stdout } = await run('npx', pack, { cwd: join(root, 'packages', name) })
    dependencies[`@ratatosk/${name}`] = `file:${JSON.parse(stdout).filename}`
  }
  for (const name of examples) {
    await cp(join(root, 'examples', name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
    for (const [dependency, range] of Object.entries((await readManifest(join(folder, name))).dependencies)) {
      dependencies[dependency] ??= range
    }
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
  })
}, 120_000)

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (server.exitCode !== null || server.signalCode !== null) continue
    server.kill()
    await once(server, 'exit')
  }
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts an example as `npm start` does, on a free port; resolves to its address, which is the first line it prints. */
async function start(example: string): Promise<string> {
  const server = spawn(process.execPath, ['server.js'], {
    cwd: join(folder, example),
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  servers.push(server)
  const lines = createInterface(server.stdout)
  const exit = once(server, 'exit').then(() =>
    Promise.reject(new Error(`${example} ended before it listened`)),
  )
  const [line] = await Promise.race([once(lines, 'line'), exit])
  return line
}

it('takes transactions into a queue of its user', async () => {
  const url = await start('submit-own-queue')
  const post = async (body: string) => {
    const response = await fetch(`${url}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body,
    })
    return { status: response.status, body: await response.json() }
  }
  const message = 'Successfully added the transaction to the queue'
  expect(await post('84a0a0f5f6')).toEqual({ status: 200, body: { message, id: '1' } })
  expect(await post('84A0A0F5F6\n')).toEqual({ status: 200, body: { message, id: '2' } })
  expect(await post('hello')).toEqual({ status: 400, body: { error: 'Invalid CBOR provided' } })
  expect(await (await fetch(`${url}/queue`)).json()).toEqual(['84a0a0f5f6', '84a0a0f5f6'])
})

it('answers about two ledgers under two prefixes', async () => {
  const url = await start('query-two-ledgers')
  const get = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, body: await response.json() }
  }
  const testnet = 'addr_test1vqg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygxrcya6'
  const mainnet = 'addr1vyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygatvcjl'
  expect(await get(`/first/utxos?address=${testnet}`)).toEqual({
    status: 200,
    body: {
      utxos: [{ outref: `825820${'ab'.repeat(32)}00`, value: `a200581d60${'11'.repeat(28)}011a004c4b40` }],
    },
  })
  expect(await get(`/second/utxos?address=${mainnet}`)).toEqual({ status: 200, body: { utxos: [] } })
  expect(await get(`/second/utxos?address=${testnet}`)).toEqual({
    status: 400,
    body: { error: `Invalid address: ${testnet}` },
  })
  expect(await get('/second/tx?tx_hash=00')).toEqual({
    status: 400,
    body: { error: 'Invalid transaction hash: 00' },
  })
})

it('installs no tests and no sources', async () => {
  for (const name of packages) {
    const files = await readdir(join(folder, 'node_modules', '@ratatosk', name), { recursive: true })
    expect(files).toContain('README.md')
    expect(files.filter((file) => /\.(test|tap)\.|(^|\/)(test|src)\//.test(file))).toEqual([])
  }
})
