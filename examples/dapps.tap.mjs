// Runs the dApps as their users do: each SDK installed unchanged from the registry, on a devnet's layer 1.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createDevnet, devnetApis, testWallets } from '../packages/devnet/dist/index.js'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const fastify = createRequire(new URL('../packages/devnet/package.json', import.meta.url))('fastify')

const folders = await readdir(here, { withFileTypes: true })
const dapps = folders.map(({ name }) => name).filter((name) => name.startsWith('dapp-'))
// Each SDK takes 50 to 150 MB and a minute to install.
const skip = process.env.RATATOSK_SDKS === 'all' ? false : 'RATATOSK_SDKS=all installs the SDKs'

t.setTimeout(1_200_000)

/** Serves a devnet on a free port until the test ends. */
async function serve(t) {
  const devnet = await createDevnet({ blockEveryMs: 200 })
  t.teardown(() => devnet.close())
  // Blaze joins a base URL that ends in a slash to paths that start with one.
  const server = fastify({ forceCloseConnections: true, routerOptions: { ignoreDuplicateSlashes: true } })
  t.teardown(() => server.close())
  await server.register(devnetApis, { devnet })
  return { devnet, url: await server.listen({ host: '127.0.0.1', port: 0 }) }
}

for (const name of dapps) {
  t.test(`${name} pays, mints, locks and unlocks on layer 1`, { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ratatosk-dapp-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await cp(join(here, name), folder, { recursive: true })
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    await run('npm', ['install', ...options], { cwd: folder })
    const { devnet, url } = await serve(t)
    const { stdout } = await run(process.execPath, ['dapp.js'], {
      cwd: folder,
      env: { ...process.env, CARDANO_API: `${url}/blockfrost/api/v0`, MNEMONIC: testWallets.mnemonic },
    })
    const lines = stdout.trim().split('\n')
    for (const what of ['paid', 'minted', 'locked', 'unlocked']) {
      const hash = lines.find((line) => line.startsWith(`${what} `))?.split(' ')[1] ?? ''
      t.equal(devnet.status(hash).status, 'confirmed', what)
    }
    t.equal(lines.at(-1), 'left at the script: 0')
  })
}
