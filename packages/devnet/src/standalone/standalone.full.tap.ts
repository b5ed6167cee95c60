import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { until } from '@ratatosk/test-kit/http'
import t, { after, before, type Test, test } from 'tap'

// The program as users get it: installed from tarballs into an empty folder outside the workspace.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
let folder = ''

// npm may have to fetch every dependency.
t.setTimeout(600_000)

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratatosk-devnet-'))
  // `npm test` has installed it.
  const pnpm = join(root, 'scripts/pnpm/node_modules/pnpm/bin/pnpm.cjs')
  const dependencies: Record<string, string> = {}
  for (const name of await withWorkspaceDependencies('devnet')) {
    const pack = [pnpm, 'pack', '--json', '--pack-destination', folder]
    const { stdout } = await run(process.execPath, pack, { cwd: join(root, 'packages', name) })
    dependencies[`@ratatosk/${name}`] = `file:${JSON.parse(stdout).filename}`
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', install, { cwd: folder })
})

after(() => rm(folder, { recursive: true, force: true }))

/** A package of the workspace and the ones it depends on: a registry does not have them yet. */
async function withWorkspaceDependencies(name: string, found = new Set<string>()): Promise<Set<string>> {
  found.add(name)
  const manifest = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'))
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const local = dependency.startsWith('@ratatosk/') && dependency.slice('@ratatosk/'.length)
    if (local && !found.has(local)) await withWorkspaceDependencies(local, found)
  }
  return found
}

const devnet = (...args: string[]) =>
  run('npx', ['@ratatosk/devnet', ...args], { cwd: folder, timeout: 60_000 })

/** Starts the program on a free port and reads its output up to the last wallet. */
async function start(
  t: Test,
  ...args: string[]
): Promise<{ child: ChildProcess; banner: string; url: string }> {
  const program = join('node_modules', '@ratatosk', 'devnet', 'dist', 'main.js')
  const child = spawn(process.execPath, [program, '--port', '0', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => stop(child))
  let banner = ''
  for await (const chunk of child.stdout) {
    banner += chunk
    if (/Account 9 .* ada\n/.test(banner)) break
  }
  const url = /http:\/\/[\d.:]+/.exec(banner)?.[0]
  if (url === undefined) throw new Error(`The devnet ended before it listened: ${banner}`)
  return { child, banner, url }
}

async function getJson(url: string) {
  return JSON.parse(await (await fetch(url)).text())
}

async function stop(child: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(30_000) })
  child.kill(signal)
  await exited
}

test('prints the APIs and wallets, with which an SDK pays', async (t) => {
  const { banner, url } = await start(t)
  t.match(banner, `${url}/blockfrost/api/v0`)
  t.match(banner, `${url}/kupo`)
  t.match(banner, `${url.replace('http', 'ws')}/ogmios`)
  t.match(banner, 'PUBLIC TEST KEYS')

  const lucidEvolution = createRequire(import.meta.url)('@lucid-evolution/lucid')
  const { startTime, slotLengthMs } = await getJson(`${url}/devnet`)
  lucidEvolution.SLOT_CONFIG_NETWORK.Custom = { zeroTime: startTime, zeroSlot: 0, slotLength: slotLengthMs }
  const provider = new lucidEvolution.Kupmios(`${url}/kupo`, `${url}/ogmios`)
  const lucid = await lucidEvolution.Lucid(provider, 'Custom')
  lucid.selectWallet.fromSeed(/Mnemonic +(.*)/.exec(banner)?.[1] ?? '')
  const to = /Account 1 +(\w+)/.exec(banner)?.[1] ?? ''
  const transaction = await lucid.newTx().pay.ToAddress(to, { lovelace: 5_000_000n }).complete()
  const hash = await (await transaction.sign.withWallet().complete()).submit()
  t.equal(await lucid.awaitTx(hash, 100), true)
  t.equal((await lucid.utxosAt(to)).length, 6)
})

test('continues its chain after a kill between blocks', async (t) => {
  const args = ['--data-dir', 'chain', '--block-every', '2', '--slot-length', '2']
  const first = await start(t, ...args)
  const latest = () => getJson(`${first.url}/blockfrost/api/v0/blocks/latest`)
  await until(async () => (await latest()).height >= 20, { timeoutMs: 120_000 })
  const seen = await latest()
  await stop(first.child, 'SIGKILL')
  const second = await start(t, ...args)
  t.match(await getJson(`${second.url}/blockfrost/api/v0/blocks/${seen.height}`), {
    hash: seen.hash,
    previous_block: seen.previous_block,
  })
})

test('prints help and version without starting', async (t) => {
  const { version } = JSON.parse(await readFile(join(root, 'packages/devnet/package.json'), 'utf8'))
  t.match((await devnet('--help')).stdout, /^Usage: devnet/)
  t.equal((await devnet('--version')).stdout, `${version}\n`)
})

test('rejects invalid arguments without starting', async (t) => {
  for (const [args, message] of [
    [['--prot', '1'], "Unknown option '--prot'"],
    [['start'], "Unexpected argument 'start'"],
    [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
  ] as const) {
    await t.rejects(devnet(...args), {
      code: 2,
      stdout: '',
      stderr: `${message}\nRun "devnet --help" for the options.\n`,
    })
  }
})

test('fails with a message if the port is taken', async (t) => {
  const { url } = await start(t, '--block-every', '0')
  await t.rejects(devnet('--port', new URL(url).port), {
    code: 1,
    stderr: /Failed to start the devnet: .*EADDRINUSE/,
  })
})

test('installs Fastify as a peer, and no tests', async (t) => {
  const installed = join(folder, 'node_modules')
  const files = await readdir(join(installed, '@ratatosk', 'devnet'), { recursive: true })
  t.ok(files.includes('README.md'))
  t.same(
    files.filter((file) => /\.(test|tap)\.|(^|\/)test\//.test(file)),
    [],
  )
  const fastify = JSON.parse(await readFile(join(installed, 'fastify', 'package.json'), 'utf8'))
  t.match(fastify.version, /^5\./)
})
