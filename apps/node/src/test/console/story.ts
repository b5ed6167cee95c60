import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { decodeBech32Address, decodeTransaction } from '@ratatosk/ledger'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { submit } from '../node.js'
import { transferFrom } from '../transfer.js'
import type { ConsoleNode } from './console-node.js'

/** The most bytes of the first page, gzipped. */
const maxFirstPage = 60_000
/** The most bytes of all of them. */
const maxPages = 150_000

/** The pages are small, and their policy allows nothing foreign and nothing inline. */
export async function sizes(t: Test, { url }: { readonly url: string }): Promise<void> {
  const headers = { 'accept-encoding': 'gzip' }
  const lengthOf = async (path: string): Promise<{ length: number; text: string }> => {
    const answer = await fetch(`${url}${path}`, { headers, method: 'GET' })
    const tag = answer.headers.get('etag') ?? ''
    t.match(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'",
    )
    t.notMatch(answer.headers.get('content-security-policy'), 'unsafe')
    t.equal(answer.headers.get('content-encoding'), 'gzip')
    t.equal((await fetch(`${url}${path}`, { headers: { 'if-none-match': tag } })).status, 304)
    return { length: Number(answer.headers.get('content-length')), text: await answer.text() }
  }
  const first = await Promise.all(
    ['/console', '/console/console.js', '/console/console.css', '/console/icon.svg'].map(lengthOf),
  )
  t.equal((await fetch(`${url}/console/`)).url, `${url}/console`, 'a slash at the end leads to the page')
  const total = first.reduce((sum, { length }) => sum + length, 0)
  t.ok(total > 1_000 && total <= maxFirstPage, `${total} bytes at first`)
  const parts = new Set(first[1]?.text.match(/(?<=import\("\.)\/[\w-]+\.js/g))
  t.ok(parts.size > 0, 'proofs are a part of their own')
  const later = await Promise.all([...parts].map((part) => lengthOf(`/console${part}`)))
  const all = later.reduce((sum, { length }) => sum + length, total)
  t.ok(all <= maxPages, `${all} bytes in all`)
}

/** A payment, from the mempool to the confirmed state. */
export async function story(
  t: Test,
  { node: { store }, url, get, setSequencer, page, shows, picture }: ConsoleNode,
): Promise<void> {
  const stage = (name: string, count: number) =>
    page.waitForSelector(`[data-stage=${name}] [data-count="${count}"]`, { timeout: 10_000 })

  await setSequencer('stopped')
  await page.goto(url)
  t.equal(page.url(), `${url}/console`, '/ sends a browser there')
  for (const name of ['queue', 'mempool', 'open', 'committed', 'merged']) await stage(name, 0)
  await shows('#tip', 'block')
  t.equal(await page.locator('#balances').count(), 0, 'the node wants a token for the test wallets')

  const { transfer } = await transferFrom(3, 0)
  t.equal((await submit(url, transfer.cborHex)).status, 200)
  await stage('mempool', 1)
  await page.waitForSelector('[data-stage=mempool] [data-marks="1"]')
  t.equal((await store.chain.countAfter(0n, 10)).transactions, 1)
  await page.waitForSelector(`#accepted [title="${transfer.hash}"]`)
  await shows('figcaption', '1 accepted')

  await page.click(`#accepted [title="${transfer.hash}"] a`)
  await page.waitForSelector('[data-step=accepted].done')
  const step = (name: string) => page.getAttribute(`[data-step=${name}]`, 'data-at')
  const id = Buffer.from(transfer.hash, 'hex')
  t.equal(await step('accepted'), (await store.placeOf(id))?.acceptedAt.toISOString())
  t.equal(await step('built'), null, 'what has not happened has no time')
  await shows('#fee', String(Number(transfer.fee) / 1e6))

  await page.click('.connection')
  await setSequencer('running')
  await until(async () => Boolean((await store.explorer.block(1n))?.committedAt), { what: 'it is committed' })
  await setSequencer('stopped')
  // The page would have read it again by now.
  await page.waitForTimeout(2_000)
  t.equal(await step('built'), null, 'a paused page stays as it is')
  await page.click('.connection')
  await page.waitForSelector('[data-step=committed].done', { timeout: 4_000 })
  await picture('transaction')
  await page.click('header nav a[href="#/"]')
  await page.waitForSelector('[data-stage=committed] .box[href="#/block/1"]')
  await page.click('header nav a[href="#/queue"]')
  await page.waitForSelector('[data-height="1"]')
  await until(
    async () => {
      const shown = await page.getAttribute('[data-height="1"]', 'data-state')
      return shown === (await store.explorer.block(1n))?.state
    },
    { what: "the carriage has its block's state" },
  )
  await picture('queue')

  await setSequencer('running')
  await page.waitForSelector('.train', { timeout: 10_000 })
  await page.waitForSelector('.carriage', { state: 'detached', timeout: 60_000 })
  t.pass('the carriage has left the train')

  await page.goto(`${url}/console#/tx/${transfer.hash}`)
  await page.waitForSelector('[data-step=merged].done', { timeout: 10_000 })
  const block = (await store.explorer.block(1n))!
  const headerHash = toHex(block.headerHash)
  for (const [name, at] of [
    ['built', block.builtAt],
    ['submitted', block.submittedAt],
    ['committed', block.committedAt],
    ['merged', block.mergedAt],
  ] as const)
    t.equal(await step(name), at?.toISOString(), name)

  await picture('story')

  await page.goto(`${url}/console#/block/1`)
  await shows('#transactions', String(block.transactions))
  await shows('#fees', String(Number(transfer.fee) / 1e6))
  await page.waitForSelector(`#root [title="${(await get('/explorer/block/1')).header.utxosRootAfter}"]`)
  await page.waitForSelector(`main a[href="archivist/block/${headerHash}"]`)
  await picture('block')

  await page.goto(`${url}/console#/`)
  await stage('merged', 1)
  await stage('mempool', 0)
  await page.waitForSelector('#blocks [data-height="1"][data-state=merged]')
  await picture('live')

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
  await shows('main dd', '20\u202f000')
  await picture('trust')

  await page.click('header nav a[href="#/"]')
  await page.click('#send')
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/, { timeout: 20_000 })
  const sent = Buffer.from(page.url().slice(-64), 'hex')
  await page.waitForSelector('[data-step=accepted].done')
  t.equal(await step('accepted'), (await store.placeOf(sent))?.acceptedAt.toISOString())
  const [paid] = decodeTransaction((await store.transaction(sent))!).body.outputs
  t.equal(paid?.value.lovelace, 5_000_000n)
  t.same(paid?.address.bytes, decodeBech32Address(testWallets.wallets[4]!.address).bytes)
}
