// Runs the pages as their users do: each SDK installed unchanged from the registry, bundled, and clicked
// through in Chromium, beside a node of the devnet.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { readSettings, startNode } from '../apps/node/dist/index.js'
import { testWallets } from '../packages/devnet/dist/index.js'
import { blake2b256, decodeBech32Address, decodeTransaction } from '../packages/ledger/dist/index.js'
import { packageManager } from '../scripts/prepare.mjs'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(new URL('../apps/node/package.json', import.meta.url))
const { chromium } = require('playwright-core')
const { PrivateKey } = require('@dcspark/cardano-multiplatform-lib-nodejs')

const folders = await readdir(here, { withFileTypes: true })
const pages = folders.map(({ name }) => name).filter((name) => name.startsWith('page-'))
// Each SDK takes 50 to 150 MB and a minute to install.
const skip = process.env.RATATOSK_SDKS === 'all' ? false : 'RATATOSK_SDKS=all installs the SDKs'

t.setTimeout(1_200_000)

async function temporaryFolder(t) {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-page-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Installs a page, with `@ratatosk/client` as it would be published, and serves it. */
async function serve(t, name) {
  const folder = await temporaryFolder(t)
  await cp(join(here, name), folder, { recursive: true })
  const client = fileURLToPath(new URL('../packages/client', import.meta.url))
  const pack = [await packageManager(), 'pack', '--json', '--pack-destination', folder]
  const { stdout } = await run(process.execPath, pack, { cwd: client, maxBuffer: 2 ** 24 })
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  manifest.dependencies['@ratatosk/client'] = `file:${JSON.parse(stdout).filename}`
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
  })
  const server = spawn(process.execPath, ['serve.js'], {
    cwd: folder,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // In a process group of its own, because esbuild is a process of its own.
    detached: true,
  })
  t.teardown(() => process.kill(-server.pid))
  const ended = once(server, 'exit').then(() => Promise.reject(new Error(`${name} is not served`)))
  const [url] = await Promise.race([once(createInterface(server.stdout), 'line'), ended])
  ended.catch(() => undefined)
  return url
}

/** A node as `npm start` runs it, and pages of any origin may use. */
async function openNode(t) {
  const settings = { DATA_DIR: await temporaryFolder(t), CORS_ORIGIN: '*', PORT: '0', LOG_LEVEL: 'silent' }
  const node = await startNode(readSettings(settings))
  t.teardown(() => node.close())
  return node.url
}

async function openBrowser(t) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: await temporaryFolder(t) },
  })
  t.teardown(() => browser.close())
  return browser
}

const { 3: devWallet, 5: signer, 9: receiver } = testWallets.wallets

for (const name of pages) {
  t.test(`${name} connects, pays, locks and unlocks on layer 2`, { skip }, async (t) => {
    const [url, node] = [await serve(t, name), await openNode(t)]
    const browser = await openBrowser(t)
    const ask = async (path) => (await fetch(`${node}/l2/blockfrost/api/v0${path}`)).json()

    for (const wallet of ['ratatosk', 'signer']) {
      await t.test(
        wallet === 'signer' ? 'with a wallet that can only sign' : 'with the dev wallet',
        async (t) => {
          const page = await browser.newPage()
          page.on('pageerror', (error) => t.fail(error.message))
          await page.exposeFunction('signAs5', signAs5)
          await page.addInitScript(
            offerSigner,
            Buffer.from(decodeBech32Address(signer.address).bytes).toString('hex'),
          )
          await page.goto(`${url}?node=${node}`)
          await page.selectOption('#wallets', wallet)
          const lines = []
          const click = async (button) => {
            await page.click(`#${button}`)
            const log = page.locator('#log')
            await page.waitForFunction(
              (count) => document.getElementById('log').textContent.split('\n').length > count,
              lines.length + 1,
              { timeout: 120_000 },
            )
            lines.splice(0, lines.length, ...(await log.textContent()).trim().split('\n'))
            return lines.at(-1)
          }
          const hash = async (button, what) => {
            const [said, id] = (await click(button)).split(' ')
            t.equal(said, what, lines.at(-1))
            t.equal((await fetch(`${node}/tx?tx_hash=${id}`)).status, 200, `${what} on layer 2`)
            return id
          }

          const { address } = wallet === 'signer' ? signer : devWallet
          t.equal(await click('connect'), `connected ${address}`)
          await page.fill('#receiver', receiver.address)
          const paid = await hash('pay', 'paid')
          t.match((await ask(`/txs/${paid}/utxos`)).outputs, [
            { address: receiver.address, amount: [{ unit: 'lovelace', quantity: '5000000' }] },
          ])
          const locked = await hash('lock', 'locked')
          const unlocked = await hash('unlock', 'unlocked')
          const { inputs } = await ask(`/txs/${unlocked}/utxos`)
          t.ok(
            inputs.some(({ tx_hash, collateral }) => tx_hash === locked && !collateral),
            'the locked output is spent',
          )
          t.equal(await click('unlock'), 'unlock failed: nothing is locked')
        },
      )
    }
  })
}

/** Runs in each page before its own scripts: offers account 5 as a wallet that signs and knows no ledger. */
function offerSigner(address) {
  const unknown = () => Promise.reject(new Error('this wallet can only sign'))
  const api = {
    getNetworkId: async () => 0,
    getUsedAddresses: async () => [address],
    getUnusedAddresses: async () => [],
    getChangeAddress: async () => address,
    getRewardAddresses: async () => [],
    signTx: (tx) => window.signAs5(tx),
    signData: unknown,
    getUtxos: unknown,
    getCollateral: unknown,
    getBalance: unknown,
    submitTx: unknown,
  }
  const about = { name: 'signer', icon: '', apiVersion: '1', supportedExtensions: [] }
  window.cardano = { signer: { ...about, isEnabled: async () => true, enable: async () => api } }
}

/** The witness set of account 5 for a transaction, in hex. */
function signAs5(tx) {
  const id = blake2b256(decodeTransaction(Buffer.from(tx, 'hex')).body.bytes)
  const key = PrivateKey.from_bech32(signer.signingKey)
  const signature = Buffer.from(key.sign(id).to_raw_bytes()).toString('hex')
  return `a10081825820${Buffer.from(key.to_public().to_raw_bytes()).toString('hex')}5840${signature}`
}
