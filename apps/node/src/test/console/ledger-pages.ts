import { createRequire } from 'node:module'
import { fromHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { embedded } from '../backends.js'
import { runNode, submit } from '../node.js'
import { transferFrom } from '../transfer.js'
import type { ConsoleNode } from './console-node.js'

// Loaded as CommonJS: the ES modules of its libsodium lack a file.
const { Blockfrost, fromText, Lucid, mintingPolicyToId, paymentCredentialOf, scriptFromNative } =
  createRequire(import.meta.url)('@lucid-evolution/lucid') as typeof import('@lucid-evolution/lucid')
const wallet = (account: number) => testWallets.wallets[account]!.address

/** Address, asset, output and Prove it. */
export async function ledgerPages(
  t: Test,
  { url, get, committed, page, shows, visit, looksRight }: ConsoleNode,
): Promise<void> {
  const lucid = await Lucid(new Blockfrost(`${url}/l2/blockfrost/api/v0`), 'Custom')
  lucid.selectWallet.fromSeed(testWallets.mnemonic, { accountIndex: 5 })
  const key = paymentCredentialOf(await lucid.wallet().address()).hash
  const policy = scriptFromNative({ type: 'sig', keyHash: key })
  const hostile = '<img src=x onerror=alert(1)>'
  const unit = mintingPolicyToId(policy) + fromText(hostile)
  const builder = lucid
    .newTx()
    .pay.ToAddress(wallet(8), { lovelace: 5_000_000n, [unit]: 3n })
    .mintAssets({ [unit]: 3n })
    .attach.MintingPolicy(policy)
    .addSignerKey(key)
    .attachMetadata(674, { msg: [hostile] })
  const hash = await (await (await builder.complete()).sign.withWallet().complete()).submit()

  await visit(`asset/${unit}`)
  await shows('#name', hostile)
  await shows('#quantity', '3')
  await page.waitForSelector(`#holders [data-holder="${wallet(8)}"]`)
  await looksRight(t, 'asset')

  await page.click(`#holders [data-holder="${wallet(8)}"] a`)
  await page.waitForSelector(`#history [data-tx="${hash}"] .gain`)
  const { amount } = await get(`/l2/blockfrost/api/v0/addresses/${wallet(8)}`)
  await shows('#balance', String(Number(amount[0].quantity) / 1e6).replace(/(?=(\d{3})+$)\B/g, '\u202f'))
  t.match(await page.locator(`#history [data-tx="${hash}"]`).textContent(), /\+5 ₳.*\+3/)
  await looksRight(t, 'address')
  await visit('address/nonsense')
  const { message } = await get('/l2/blockfrost/api/v0/addresses/nonsense')
  await shows('main section:has(h2:has-text("Address"))', message)

  const headerHash = Buffer.from((await committed(hash)).headerHash).toString('hex')
  await visit(`tx/${hash}`)
  await page.click('summary:has-text("674")')
  await shows('details pre', hostile)
  await page.click('#prove')
  await page.waitForSelector(`#proof [title="${headerHash}"]`)
  const { position } = await get(`/proofs/transaction?tx_hash=${hash}`)
  await shows('#proof', `it is at position ${position}`)
  await looksRight(t, 'proof')
  const [{ outref }] = (await get(`/explorer/tx/${hash}`)).outputs
  await page.click(`main a[href="#/output/${encodeURIComponent(outref)}"]`)
  await page.waitForSelector('#spent')
  await page.waitForSelector(`#before [title="${(await get(`/explorer/tx/${hash}`)).inputs[0].outref}"]`)
  await page.click('#prove')
  await shows('#proof', 'it is unspent')
  await looksRight(t, 'output')

  const changed = async (fields: Record<string, number>) => {
    await page.route('**/proofs/transaction*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), ...fields } })
    })
    await visit('')
    await visit(`tx/${hash}`)
    await page.click('#prove')
  }
  await changed({ position: 77 })
  await shows('main', 'The proof is not valid')
  await page.unroute('**/proofs/transaction*')
  await changed({ height: 77_777 })
  await shows('#proof', `it is at position ${position}`)
  t.notMatch(await page.textContent('#proof'), /77.?777/, 'the proof says nothing about the height')
  await page.unroute('**/proofs/transaction*')
}

/** Bridge: a deposit until it is credited, and a withdrawal until it is paid. */
export async function bridgePage(
  t: Test,
  { node, get, page, shows, visit, giveToken, looksRight }: ConsoleNode,
): Promise<void> {
  const soon = { timeout: 90_000 }
  await visit('bridge')
  // It forgets the token.
  await page.reload()
  await page.waitForSelector('#treasury')
  await shows('main', 'No deposit is at the bridge')
  await shows('main', 'Nothing has left layer 2')
  await shows('main', 'every withdrawal of a merged block is paid')
  await giveToken()

  await page.click('#deposit')
  await shows('#move', 'The deposit is on its way')
  await page.waitForSelector('#deposits [data-state=waiting]:has-text("credited in")')
  const [deposit] = (await get('/deposits')).deposits
  const row = `#deposits [data-deposit="${deposit.id}"]`
  t.match(await page.textContent(row), /10 ₳/)
  await page.waitForSelector(`${row} [title="${deposit.layer1Outref}"]`)
  await looksRight(t, 'bridge-waiting')
  await page.waitForSelector(`${row}:not([data-state=waiting])`, soon)
  const { headerHash } = (await node.store.deposit(fromHex(deposit.id)))!
  t.ok(await node.store.blocks.depositsOf(headerHash), 'a block has it')

  await page.selectOption('#move select', '5')
  await page.click('#withdraw')
  await shows('#move', 'The withdrawal is accepted')
  await page.waitForSelector('#withdrawals [data-withdrawal]')
  const [withdrawal] = (await get('/withdrawals')).withdrawals
  t.equal(withdrawal.payTo, testWallets.wallets[5]!.address)
  const left = `#withdrawals [data-withdrawal="${withdrawal.outref}"]`
  t.match(await page.textContent(left), /5 ₳/)
  await looksRight(t, 'bridge')

  await page.click(`${row} a[href*="#/output/"]`)
  await shows('#before', 'deposit from layer 1')
  await looksRight(t, 'deposit-output')
  await visit(`address/${testWallets.wallets[3]!.address}`)
  await shows('#history', 'deposit from layer 1')
  await visit(`tx/${withdrawal.outref.slice(0, 64)}`)
  await shows('.flow', 'has left layer 2')
  await visit('bridge')
  await page.waitForSelector(`${left}[data-state=paid]`, soon)
  await manyEntries(t, { get, page, shows, looksRight }, deposit)
}

/** Lists of several parts, a settlement, and a treasury that has too little. */
async function manyEntries(
  t: Test,
  { get, page, shows, looksRight }: Pick<ConsoleNode, 'get' | 'page' | 'shows' | 'looksRight'>,
  deposit: { readonly id: string },
): Promise<void> {
  const deposits = Array.from({ length: 125 }, (_, number) => {
    const id = String(number).padStart(64, '0')
    return { ...deposit, id, outref: `${id}#0` }
  })
  await page.route('**/deposits?limit=*', (route) => {
    const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
    const json = { deposits: deposits.slice(offset, offset + 100), hasMore: offset + 100 < deposits.length }
    return route.fulfill({ json })
  })
  const bridge = await get('/bridge')
  const { headerHash } = (await get('/withdrawals')).withdrawals[0]
  const settlements = [
    { headerHash, outref: `${deposit.id}#2`, remaining: 3, lovelace: '2500000000000' },
    { headerHash: '0'.repeat(56), outref: `${deposit.id}#1` },
  ]
  const treasury = { ...bridge.treasury, owed: '2500000000000', backed: false }
  await page.route('**/bridge', (route) => route.fulfill({ json: { ...bridge, treasury, settlements } }))
  await shows('main', 'not backed')
  await page.waitForSelector(
    `#settlements [data-settlement="${deposit.id}#2"]:has-text("2\u202f500\u202f000 ₳")`,
  )
  const first = (id: number) =>
    page.waitForSelector(`#deposits tbody tr:first-child[data-deposit="${String(id).padStart(64, '0')}"]`)
  await first(124)
  t.equal(await page.locator('#deposits tbody tr').count(), 10)
  await page.click('button:text("Later")')
  await first(114)
  await looksRight(t, 'bridge-paid')
  await page.unroute('**/deposits?limit=*')
  await page.unroute('**/bridge')
}

/** An answer that comes after that to a later request does not take a block away. */
export async function lateAnswer(t: Test, { url, committed, page, visit }: ConsoleNode): Promise<void> {
  await visit('')
  await page.waitForSelector('#blocks [data-height]')
  const path = '**/explorer/blocks?*'
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let isHeld = false
  await page.route(
    path,
    async (route) => {
      const response = await route.fetch()
      isHeld = true
      await released
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  await until(async () => isHeld, { what: 'the page asks for blocks' })

  const { transfer } = await transferFrom(8, 0)
  t.equal((await submit(url, transfer.cborHex)).status, 200)
  const block = `#blocks [data-height="${(await committed(transfer.hash)).height}"]`
  await page.waitForSelector(block)
  const late = page.waitForResponse(path)
  release()
  await (await late).finished()
  // The page has drawn it by then.
  await page.evaluate('new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 100))')
  t.equal(await page.locator(block).count(), 1, 'it is still there')
}

/** Acceptances take no rejection from the list. */
export async function rejectionStays(t: Test, { url, page, visit }: ConsoleNode): Promise<void> {
  await visit('')
  await page.reload()
  await page.waitForSelector('.connection:text-is("Live")')
  await submit(url, '84a102a0a0f5f6')
  await page.waitForSelector('#rejected li')
  for (let place = 1; place <= 24; place++) {
    const { transfer } = await transferFrom(place <= 12 ? 8 : 9, ((place - 1) % 12) + 1)
    t.equal((await submit(url, transfer.cborHex)).status, 200)
    // Those of a moment are shown at once.
    if (place % 8 === 0) await page.waitForSelector(`#accepted [title="${transfer.hash}"]`)
  }
  t.equal(await page.locator('#rejected li').count(), 1)
}

/** Pages are there for what the node serves. */
export async function servedPages(t: Test, { url, page }: ConsoleNode): Promise<void> {
  await page.goto(`${url}/console`)
  await page.waitForSelector('header nav a:text("Devnet")')
  const titles = await page.locator('header nav a').allTextContents()
  const tools = ['Watch', 'Rejected', 'Check', 'Wallets', 'Devnet', 'Replay', 'Trust']
  t.same(titles, ['Live', 'Queue', 'Bridge', ...tools])
  const less = {
    SERVE_EVALUATE: 'false',
    SERVE_EVENTS: 'false',
    BRIDGE: 'false',
    LAYER1_PROVIDER: 'blockfrost',
  }
  const other = await runNode(t, {
    ...(await embedded(t)),
    ...less,
    BLOCKFROST_URL: `${url}/l2/blockfrost/api/v0`,
    AUTO_INIT: 'false',
  })
  const { routes } = JSON.parse((await ask(`${other.url}/console/routes`)).body)
  t.ok(routes.includes('GET /deadLetters'))
  for (const absent of ['POST /evaluate', 'GET /events', 'POST /devnet/roll-back'])
    t.notOk(routes.includes(absent), absent)
  const elsewhere = await page.context().browser()!.newPage()
  await elsewhere.goto(`${other.url}/console`)
  await elsewhere.waitForSelector('header nav a:text("Rejected")')
  t.same(await elsewhere.locator('header nav a').allTextContents(), [
    'Live',
    'Queue',
    'Watch',
    'Rejected',
    'Trust',
  ])
  await elsewhere.goto(`${other.url}/console#/bridge`)
  await elsewhere.waitForSelector('main:has-text("This deployment has no bridge")')
  await elsewhere.close()
}

/** Replay: the last hour from its events. */
export async function replayPage(t: Test, { node, page, visit, looksRight }: ConsoleNode): Promise<void> {
  await visit('replay')
  await page.click('#load')
  await page.waitForSelector('#cursor')
  await page.locator('#cursor').press('End')
  const figure = (name: string) => page.getAttribute(`[data-figure="${name}"]`, 'data-count')
  const accepted = (await node.store.chain.countAfter(0n, 1000)).transactions
  await until(async () => Number(await figure('accepted')) > 0, { what: 'the end is shown' })
  t.equal(await figure('accepted'), String(accepted))
  await page.locator('#cursor').press('Home')
  await page.locator('#speed').press('End')
  await page.click('#play')
  await until(async () => (await figure('accepted')) === String(accepted), { what: 'it is played' })
  await looksRight(t, 'replay')
}

/** The other pages, and a tour by keyboard alone. */
export async function otherPages(t: Test, { page, visit, looksRight, problems }: ConsoleNode): Promise<void> {
  for (const name of ['', 'queue', 'trust', 'block/1', 'search/ab', 'nothing']) {
    await visit(name)
    await page.waitForTimeout(300)
    await looksRight(t, name === '' ? 'live' : name.replace('/', '-'))
  }
  await visit('')
  for (const title of [
    'Queue',
    'Bridge',
    'Watch',
    'Rejected',
    'Check',
    'Wallets',
    'Devnet',
    'Replay',
    'Trust',
  ]) {
    await page.keyboard.press('/')
    t.equal(await page.evaluate('document.activeElement.id'), 'search')
    for (let presses = 0; presses < 10; presses++) {
      await page.keyboard.press('Shift+Tab')
      if ((await page.evaluate('document.activeElement.textContent')) === title) break
    }
    await page.keyboard.press('Enter')
    await page.waitForSelector(`h1:text-is("${title}")`, { state: 'attached' })
  }
  t.same(problems, [], 'nothing foreign, no error, no dialog')
}
