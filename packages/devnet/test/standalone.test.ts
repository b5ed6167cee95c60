import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

// The program as its users have it: installed from tarballs into an empty folder, outside of the workspace.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const started: ChildProcess[] = []
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratatosk-devnet-'))
  const { packageManager } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const dependencies: Record<string, string> = {}
  for (const name of ['ledger', 'devnet']) {
    const pack = ['--yes', packageManager, 'pack', '--json', '--pack-destination', folder]
    const { stdout } = await run('npx', pack, { cwd: join(root, 'packages', name) })
    dependencies[`@ratatosk/${name}`] = `file:${JSON.parse(stdout).filename}`
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', install, { cwd: folder })
}, 120_000)

afterEach(async () => {
  await Promise.all(started.splice(0).map(stop))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

/** Starts the program on a free port and reads what it prints, up to the last of the wallets. */
async function start(...options: string[]): Promise<{ child: ChildProcess; printed: string; url: string }> {
  const program = join('node_modules', '@ratatosk', 'devnet', 'dist', 'main.js')
  const child = spawn(process.execPath, [program, '--port', '0', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    if (/account 9 .* ada\n/.test(printed)) break
  }
  const url = /http:\/\/[\d.:]+/.exec(printed)?.[0]
  if (url === undefined) throw new Error(`the devnet ended before it listened: ${printed}`)
  return { child, printed, url }
}

it('prints end points and wallets, and an SDK pays by them', async () => {
  const { printed, url } = await start()
  expect(printed).toContain(`${url}/blockfrost/api/v0`)
  expect(printed).toContain(`${url}/kupo`)
  expect(printed).toContain(`${url.replace('http', 'ws')}/ogmios`)
  expect(printed).toContain('PUBLIC TEST KEYS')

  const lucidEvolution = createRequire(import.meta.url)('@lucid-evolution/lucid')
  const { startTime, slotLengthMs } = await (await fetch(`${url}/devnet`)).json()
  lucidEvolution.SLOT_CONFIG_NETWORK.Custom = { zeroTime: startTime, zeroSlot: 0, slotLength: slotLengthMs }
  const provider = new lucidEvolution.Kupmios(`${url}/kupo`, `${url}/ogmios`)
  const lucid = await lucidEvolution.Lucid(provider, 'Custom')
  lucid.selectWallet.fromSeed(/mnemonic +(.*)/.exec(printed)?.[1] ?? '')
  const to = /account 1 +(\w+)/.exec(printed)?.[1] ?? ''
  const transaction = await lucid.newTx().pay.ToAddress(to, { lovelace: 5_000_000n }).complete()
  const hash = await (await transaction.sign.withWallet().complete()).submit()
  expect(await lucid.awaitTx(hash, 100)).toBe(true)
  expect(await lucid.utxosAt(to)).toHaveLength(6)
}, 60_000)

it('goes on with its chain after it was killed between any two blocks', async () => {
  const options = ['--data-dir', 'chain', '--block-every', '2', '--slot-length', '2']
  const first = await start(...options)
  const latest = async () => (await fetch(`${first.url}/blockfrost/api/v0/blocks/latest`)).json()
  let seen = await latest()
  while (seen.height < 20) seen = await latest()
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const second = await start(...options)
  const kept = await fetch(`${second.url}/blockfrost/api/v0/blocks/${seen.height}`)
  expect(await kept.json()).toMatchObject({ hash: seen.hash, previous_block: seen.previous_block })
}, 60_000)

it('is found by npx, and says how it is used', async () => {
  const { stdout } = await run('npx', ['@ratatosk/devnet', '--help'], { cwd: folder })
  expect(stdout).toContain('Usage: devnet')
  await expect(run('npx', ['@ratatosk/devnet', '--port', 'x'], { cwd: folder })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--port must be a whole number'),
  })
}, 60_000)

it('installs no tests and no sources', async () => {
  const files = await readdir(join(folder, 'node_modules', '@ratatosk', 'devnet'), { recursive: true })
  expect(files).toContain('README.md')
  expect(files.filter((file) => /\.(test|tap)\.|(^|\/)(test|src)\//.test(file))).toEqual([])
})
