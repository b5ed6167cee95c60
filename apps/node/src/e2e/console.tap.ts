import { mkdir } from 'node:fs/promises'
import { testWallets } from '@ratatosk/devnet'
import { decodeBech32Address, decodeTransaction } from '@ratatosk/ledger'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Page } from 'playwright-core'
import t from 'tap'
import { bothBackends } from '../test/backends.js'
import { noBrowser, openBrowser } from '../test/browser.js'
import { devnetServer } from '../test/devnet-server.js'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

const [embedded] = await bothBackends()
const layer1 = await devnetServer(t)
const node = await runNode(t, {
  ...(await embedded.place(t)),
  ...layer1.settings,
  AUTO_INIT: 'false',
  AUTO_COMMIT: 'false',
  AUTO_MERGE: 'false',
  MATURITY_WINDOW_MS: '500',
  BLOCK_VALIDITY_MS: '10000',
})
const { store, url } = node
const get = async (path: string) => JSON.parse((await ask(`${url}${path}`)).body)

/** The most bytes of the first page, gzipped. */
const maxFirstPage = 60_000
/** Where `RATATOSK_SCREENSHOTS` wants pictures of the pages. */
const pictures = process.env.RATATOSK_SCREENSHOTS

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  await mkdir(pictures, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png`, fullPage: true })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
}

t.test('the first page is small, and its policy allows nothing foreign and nothing inline', async (t) => {
  const headers = { 'accept-encoding': 'gzip' }
  let total = 0
  for (const path of ['/console', '/console/console.js', '/console/console.css', '/console/icon.svg']) {
    const answer = await fetch(`${url}${path}`, { headers, method: 'GET' })
    const tag = answer.headers.get('etag') ?? ''
    t.match(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'",
    )
    t.notMatch(answer.headers.get('content-security-policy'), 'unsafe')
    t.equal(answer.headers.get('content-encoding'), 'gzip')
    await answer.arrayBuffer()
    total += Number(answer.headers.get('content-length'))
    t.equal((await fetch(`${url}${path}`, { headers: { 'if-none-match': tag } })).status, 304)
  }
  t.ok(total > 1_000 && total <= maxFirstPage, `${total} bytes`)
})

t.test('a node that does not serve it answers the one 404', async (t) => {
  for (const setting of ['SERVE_CONSOLE', 'SERVE_EXPLORER']) {
    const other = await runNode(t, { ...(await embedded.place(t)), [setting]: 'false' })
    t.match(await ask(`${other.url}/console`), {
      status: 404,
      body: '{"error":"Not Found","code":"DISABLED"}',
    })
  }
})

t.test('a payment, from the mempool to the confirmed state, in Chromium', { skip: noBrowser }, async (t) => {
  await get('/init')
  const browser = await openBrowser(t)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('dialog', (dialog) => problems.push(dialog.message()))
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(request.url())
  })

  /** Waits until an element shows a text. */
  const shows = async (selector: string, text: string) => {
    await page.locator(selector).filter({ hasText: text }).first().waitFor({ timeout: 10_000 })
  }
  const stage = (name: string, count: number) =>
    page.waitForSelector(`[data-stage=${name}] [data-count="${count}"]`, { timeout: 10_000 })

  await page.goto(url)
  t.equal(page.url(), `${url}/console`, '/ sends a browser there')
  for (const name of ['queue', 'mempool', 'open', 'committed', 'merged']) await stage(name, 0)
  await shows('#tip', 'block')

  const { transfer } = await transferFrom(3, 0)
  t.equal((await submit(url, transfer.cborHex)).status, 200)
  await stage('mempool', 1)
  t.equal((await store.chain.countAfter(0n, 10)).transactions, 1)
  await page.waitForSelector(`#accepted [title="${transfer.hash}"]`)

  await page.click(`#accepted [title="${transfer.hash}"] a`)
  await page.waitForSelector('[data-step=accepted].done')
  const step = (name: string) => page.getAttribute(`[data-step=${name}]`, 'data-at')
  const id = Buffer.from(transfer.hash, 'hex')
  t.equal(await step('accepted'), (await store.placeOf(id))?.acceptedAt.toISOString())
  t.equal(await step('built'), null, 'what has not happened has no time')
  await shows('#fee', String(Number(transfer.fee) / 1e6))

  const { headerHash } = await get('/commit')
  await page.waitForSelector('[data-step=committed].done', { timeout: 10_000 })
  await picture(page, 'transaction')
  await page.click('header nav a[href="#/queue"]')
  await page.waitForSelector('[data-height="1"]')
  await until(
    async () => {
      const shown = await page.getAttribute('[data-height="1"]', 'data-state')
      return shown === (await store.explorer.block(1n))?.state
    },
    { what: "the carriage has its block's state" },
  )
  await picture(page, 'queue')

  await until(async () => (await get('/merge')).headerHash === headerHash, { what: 'the block is merged' })
  await page.waitForSelector('.train', { timeout: 10_000 })
  await page.waitForSelector('.carriage', { state: 'detached', timeout: 10_000 })
  t.pass('the carriage has left the train')

  await page.goto(`${url}/console#/tx/${transfer.hash}`)
  await page.waitForSelector('[data-step=merged].done', { timeout: 10_000 })
  const block = (await store.explorer.block(1n))!
  for (const [name, at] of [
    ['built', block.builtAt],
    ['submitted', block.submittedAt],
    ['committed', block.committedAt],
    ['merged', block.mergedAt],
  ] as const)
    t.equal(await step(name), at?.toISOString(), name)

  await page.goto(`${url}/console#/block/1`)
  await shows('#transactions', String(block.transactions))
  await shows('#fees', String(Number(transfer.fee) / 1e6))
  await page.waitForSelector(`#root [title="${(await get('/explorer/block/1')).header.utxosRootAfter}"]`)
  await picture(page, 'block')

  await page.goto(`${url}/console#/`)
  await stage('merged', 1)
  await stage('mempool', 0)
  await page.waitForSelector('#blocks [data-height="1"][data-state=merged]')
  await picture(page, 'live')

  await page.keyboard.press('/')
  await page.keyboard.type('<img src=x onerror=alert(1)>')
  await page.keyboard.press('Enter')
  await shows('main', '<img src=x onerror=alert(1)> is not here')
  await page.fill('#search', headerHash)
  await page.keyboard.press('Enter')
  await page.click('main a:text("open")')
  await shows('main h2', 'Block 1')
  await page.click('header nav a[href="#/trust"]')
  await shows('main', 'maturity window (ms)')
  await picture(page, 'trust')

  await page.click('header nav a[href="#/"]')
  await page.click('#send')
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/, { timeout: 20_000 })
  const sent = Buffer.from(page.url().slice(-64), 'hex')
  await page.waitForSelector('[data-step=accepted].done')
  t.equal(await step('accepted'), (await store.placeOf(sent))?.acceptedAt.toISOString())
  const [paid] = decodeTransaction((await store.transaction(sent))!).body.outputs
  t.equal(paid?.value.lovelace, 5_000_000n)
  t.same(paid?.address.bytes, decodeBech32Address(testWallets.wallets[4]!.address).bytes)

  t.same(problems, [], 'nothing foreign, no error, no dialog')
})
