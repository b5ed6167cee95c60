// Runs the examples as their users do: the packages installed from tarballs into an empty folder, outside of
// the workspace.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

const readManifest = async (path) => JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))

const folders = await readdir(join(root, 'examples'), { withFileTypes: true })
// The others have tests of their own.
const examples = folders
  .filter((entry) => entry.isDirectory() && !/^(dapp-|page-|own-plugin$)/.test(entry.name))
  .map(({ name }) => name)

/** Packs the packages that the examples need, and installs the examples with them. */
async function install() {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-examples-'))
  const dependencies = {}
  for (const name of examples) {
    await cp(join(root, 'examples', name), join(folder, name), { recursive: true })
    Object.assign(dependencies, (await readManifest(join(folder, name))).dependencies)
  }
  const packed = join(folder, 'packed')
  // One after the other, because a package must not remove those that are there.
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith('@ratatosk/'))) {
    await run(process.execPath, [join(root, 'scripts/pack.mjs'), name, '--to', packed])
    delete dependencies[name]
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  const tarballs = (await readdir(packed)).map((name) => join(packed, name))
  await run('npm', ['install', ...options, ...tarballs], { cwd: folder })
  const names = await readdir(join(folder, 'node_modules/@ratatosk'))
  return { folder, packages: names.map((name) => `@ratatosk/${name}`) }
}

t.setTimeout(240_000)
const { folder, packages } = await install()
t.teardown(() => rm(folder, { recursive: true, force: true }))

/** Starts an example on a free port until the test ends; resolves to the address that it prints first. */
async function start(t, example) {
  const server = spawn(process.execPath, ['server.js'], {
    cwd: join(folder, example),
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(server, 'exit')
  t.teardown(async () => {
    server.kill()
    await exit
  })
  const failed = exit.then(() => Promise.reject(new Error(`${example} ended before it listened`)))
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), failed])
  failed.catch(() => undefined)
  return line
}

async function ask(url, init) {
  const response = await fetch(url, init)
  return { status: response.status, body: await response.json() }
}

t.test('submit-own-queue adds transactions to the queue of its user', async (t) => {
  const url = await start(t, 'submit-own-queue')
  const post = (body) =>
    ask(`${url}/submit`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
  const message = 'Successfully added the transaction to the queue'
  t.same(await post('84a0a0f5f6'), { status: 200, body: { message, id: '1' } })
  t.same(await post('84A0A0F5F6\n'), { status: 200, body: { message, id: '2' } })
  t.same(await post('hello'), { status: 400, body: { error: 'Invalid CBOR provided' } })
  t.same((await ask(`${url}/queue`)).body, ['84a0a0f5f6', '84a0a0f5f6'])
})

t.test('query-two-ledgers answers about two ledgers under two prefixes', async (t) => {
  const url = await start(t, 'query-two-ledgers')
  const testnet = 'addr_test1vqg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygxrcya6'
  const mainnet = 'addr1vyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygatvcjl'
  t.same(await ask(`${url}/first/utxos?address=${testnet}`), {
    status: 200,
    body: {
      utxos: [{ outref: `825820${'ab'.repeat(32)}00`, value: `a200581d60${'11'.repeat(28)}011a004c4b40` }],
    },
  })
  t.same(await ask(`${url}/second/utxos?address=${mainnet}`), { status: 200, body: { utxos: [] } })
  t.same(await ask(`${url}/second/utxos?address=${testnet}`), {
    status: 400,
    body: { error: `Invalid address: ${testnet}` },
  })
  t.same(await ask(`${url}/second/tx?tx_hash=00`), {
    status: 400,
    body: { error: 'Invalid transaction hash: 00' },
  })
})

t.test('the tarballs contain no tests', async (t) => {
  for (const name of packages) {
    const files = await readdir(join(folder, 'node_modules', name), { recursive: true })
    const tests = files.filter((file) => /\.(test|tap)\.|(^|\/)test\//.test(file))
    t.same(tests, [], name)
  }
})
