import { toHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { embedded } from '../backends.js'
import { runNode, submit } from '../node.js'
import { transferFrom } from '../transfer.js'
import { type ConsoleNode, operatorToken } from './console-node.js'

/** Break something: the node repairs what layer 1 has undone. */
export async function breakSomething(
  t: Test,
  { node, url, committed, page, shows, visit, giveToken, looksRight }: ConsoleNode,
): Promise<void> {
  await visit('')
  // It forgets the token.
  await page.reload()
  await page.click('#send')
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/, { timeout: 30_000 })
  const { height, headerHash } = await committed(page.url().slice(-64))
  await visit('')
  await page.waitForSelector(
    `#blocks [data-height="${height}"]:is([data-state=committed], [data-state=mature])`,
  )
  await page.click('#break')
  await shows('.send', 'This needs the operator token')
  await giveToken('wrong')
  await page.click('#break')
  await shows('.send', 'The token is wrong')
  await giveToken()
  await page.click('#break')
  await page.waitForSelector(`[data-move=uncoupled][data-height="${height}"]`, { timeout: 30_000 })
  await page.waitForSelector(`[data-move=repaired][data-height="${height}"]`, { timeout: 60_000 })
  t.match(
    await node.store.explorer.block(headerHash),
    { state: /committed|mature|merged/ },
    'so says the store',
  )
  await looksRight(t, 'break')

  const post = (headers: Record<string, string>) =>
    ask(`${url}/devnet/roll-back`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}`, ...headers },
      body: '{"blocks":1}',
    })
  t.equal((await post({ origin: 'http://shop.example' })).status, 403)
  t.equal((await post({ 'sec-fetch-site': 'same-site' })).status, 403)
  t.equal((await post({ authorization: '' })).status, 401)
}

/** Wallets: both layers, top up, send, connect by CIP-30. */
export async function walletsPage(
  t: Test,
  { get, post, page, shows, visit, looksRight }: ConsoleNode,
): Promise<void> {
  await visit('wallets')
  await page.waitForSelector('#wallets [data-account="9"]')
  t.equal(await page.locator('#wallets tbody tr').count(), testWallets.wallets.length)
  const of = (account: number, layer: string) =>
    page.getAttribute(`#wallets [data-account="${account}"]`, `data-${layer}`)
  const lovelace = async (account: number) =>
    (await get(`/l2/blockfrost/api/v0/addresses/${testWallets.wallets[account]?.address}`)).amount[0].quantity
  for (const account of [3, 4, 9]) t.equal(await of(account, 'layer2'), await lovelace(account))
  const before = BigInt((await of(9, 'layer1')) ?? '')
  await page.click('[aria-label="Top up wallet 9"]')
  await page.waitForSelector(`#wallets [data-account="9"][data-layer1="${before + 100_000_000n}"]`)
  const { address } = testWallets.wallets[9]!
  t.equal((await post('/devnet/addresses/topup', { address, adaAmount: 1 })).status, 200, 'by another')
  await page.waitForSelector(`#wallets [data-account="9"][data-layer1="${before + 101_000_000n}"]`)
  await page.click('#connect button:text("ratatosk")')
  await page.waitForSelector(`#connected[data-lovelace="${await lovelace(3)}"]`)
  const connected = page.getAttribute('#connected .name', 'title')
  await looksRight(t, 'wallets')

  const had = BigInt(await lovelace(7))
  await page.fill('#pay input[name=ada]', '12.5')
  // The page reads the wallets again; what was typed stays.
  await page.click('[aria-label="Top up wallet 8"]')
  await shows('#said', 'on their way')
  await page.waitForSelector('#wallets [data-account="8"][data-layer1="50100000000"]')
  await page.selectOption('#pay select[name=to]', '7')
  await page.click('#pay button')
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/, { timeout: 30_000 })
  t.equal(BigInt(await lovelace(7)), had + 12_500_000n)

  await visit('wallets')
  await page.route('**/tx/submit', (route) => route.abort())
  await page.selectOption('#pay select[name=from]', '5')
  await page.selectOption('#pay select[name=to]', '4')
  await page.click('#pay button')
  await page.waitForSelector('#said .bad')
  await page.unroute('**/tx/submit')
  await page.click('#connect button:text("ratatosk")')
  await shows('#connected', 'Send 5 ada')
  const title = await page.getAttribute('#connected .name', 'title')
  t.equal(title, await connected, 'the same account, also after a payment to another one')
  await page.click('header nav a[href="#/"]')
  await page.waitForSelector(`#balances [data-account="7"][data-layer2="${had + 12_500_000n}"]`)
}

/** Wallets: a balance that the node does not say is unknown. */
export async function unknownBalances(t: Test, { page }: ConsoleNode): Promise<void> {
  const other = await runNode(t, {
    ...(await embedded(t)),
    SERVE_LAYER2_APIS: 'false',
    AUTO_INIT: 'false',
  })
  const elsewhere = await page.context().browser()!.newPage()
  await elsewhere.goto(`${other.url}/console#/wallets`)
  const { length } = testWallets.wallets
  await elsewhere.waitForSelector('#wallets [data-account="9"]')
  t.equal(await elsewhere.locator('#wallets tbody tr > :nth-child(4):text-is("unknown")').count(), length)
  t.equal(await elsewhere.locator('#pay, #connect').count(), 0, 'nothing is sent without a dev wallet')
  await elsewhere.goto(`${other.url}/console#/`)
  await elsewhere.waitForSelector('#balances [data-account="9"]:has-text("unknown")')
  await elsewhere.close()
}

/** Devnet: blocks, roll-backs, faults, and the end of the sequencer. */
export async function devnetPage(
  t: Test,
  { node, url, get, post, operate, committed, page, shows, visit, looksRight }: ConsoleNode,
): Promise<void> {
  await visit('devnet')
  await page.waitForSelector('#height')
  const { tip } = await operate('/devnet')
  await page.fill('#make input', '5')
  await page.click('#make button')
  await shows('#done', 'the tip is block')
  t.ok((await operate('/devnet')).tip.height >= tip.height + 5)
  const height = async () => Number((await page.textContent('#height'))?.replace(/\D/g, ''))
  const shown = await height()
  t.equal((await post('/devnet/blocks', { count: 5 })).status, 200, 'by another')
  await until(async () => (await height()) >= shown + 5, { what: 'the page shows their height' })
  await page.fill('#undo input[name=blocks]', '2')
  await page.click('#undo button')
  await shows('#done', 'Rolled back')
  await page.selectOption('#fault select[name=kind]', 'failure')
  await page.click('#fault button[type=submit]')
  await shows('#done', 'The fault is injected')
  await page.click('#fault button[type=button]')
  await shows('#done', 'All faults are removed')
  await page.fill('#undo input[name=blocks]', '2160')
  await page.click('#undo button')
  await shows('#done', 'Cannot roll back 2160 blocks')
  await looksRight(t, 'devnet')

  await page.click('#stop')
  await shows('#sequencer', 'The sequencer is stopped')
  await until(async () => (await get('/explorer/overview')).sequencer === undefined, {
    what: 'nobody holds the lease',
  })
  const [one, other] = await Promise.all([transferFrom(4, 0), transferFrom(4, 1)])
  for (const { transfer } of [one, other]) t.equal((await submit(url, transfer.cborHex)).status, 200)
  await shows('#sequencer', '2 accepted transactions wait')
  const place = await node.store.placeOf(Buffer.from(one.transfer.hash, 'hex'))
  t.equal(place?.block, undefined, 'it is in no block')
  await page.click('#stop')
  await shows('#sequencer', 'The sequencer is running')
  const { headerHash } = await committed(one.transfer.hash)
  await visit(`block/${Buffer.from(headerHash).toString('hex')}`)
  await page.waitForSelector('#map rect')
  t.same(
    await page.locator('#map rect').evaluateAll((all) => all.map((each) => each.getAttribute('data-bytes'))),
    (await node.store.blocks.transactionsOf(headerHash)).map(({ cbor }) => String(cbor.length)),
    'the map of their block has the bytes of each',
  )
  await looksRight(t, 'block-map')
  await page.locator('#map rect').first().click()
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/)
}

/** A page that is open across a restart shows each event once, also those before it reconnects. */
export async function restart(
  t: Test,
  { node, settings, url, page, visit, shows }: ConsoleNode,
): Promise<void> {
  const hashes: string[] = []
  const send = async (place: number) => {
    const { transfer } = await transferFrom(7, place)
    t.equal((await submit(url, transfer.cborHex)).status, 200)
    hashes.unshift(transfer.hash)
  }
  const isAccepted = async ({ store }: typeof node, hash: string) =>
    Boolean(await store.placeOf(Buffer.from(hash, 'hex')))
  const shown = () =>
    page.locator('#accepted .name').evaluateAll((all) => all.map((each) => each.getAttribute('title')))
  const showsAll = async (what: string) => {
    await page.waitForSelector(`#accepted [title="${hashes[0]}"]`, { timeout: 60_000 })
    t.same(await shown(), hashes, what)
  }

  await visit('')
  await page.reload()
  await page.waitForSelector('.connection:text-is("Live")')
  await send(0)
  await send(1)
  await showsAll('before')

  await page.click('.connection')
  await send(2)
  await until(() => isAccepted(node, hashes[0]!), { what: 'it is accepted' })
  // The page would have shown it by now.
  await page.waitForTimeout(1_500)
  t.same(await shown(), hashes.slice(1), 'not while the page is paused')
  await page.click('.connection')
  await showsAll('afterwards')

  await node.close()
  await shows('.connection', 'Unreachable for')
  await page.waitForSelector('main.stale')
  await page.context().setOffline(true)
  const again = await runNode(t, { ...settings, PORT: new URL(url).port })
  t.equal(again.url, url)
  for (const place of [3, 4]) await send(place)
  await until(async () => (await Promise.all(hashes.map((hash) => isAccepted(again, hash)))).every(Boolean), {
    what: 'all are accepted',
  })
  await page.context().setOffline(false)
  await showsAll('after, with what came meanwhile')
  await page.waitForSelector('main:not(.stale)')
  await send(5)
  await showsAll('and then')
}

/** A block is removed: its carriage goes, and its transaction's page shows the next block. */
export async function removal(
  t: Test,
  { url, operate, committed, page, shows, visit }: ConsoleNode,
): Promise<void> {
  const queue = await page.context().browser()!.newPage()
  await queue.goto(`${url}/console#/queue`)
  await visit('')
  await page.click('#send')
  await page.waitForURL(/#\/tx\/[0-9a-f]{64}$/, { timeout: 30_000 })
  const hash = page.url().slice(-64)
  const carriage = (block: Awaited<ReturnType<typeof committed>>) =>
    queue.locator(`.carriage [title="${toHex(block.commitTransactionId!)}"]`)

  const block = await committed(hash)
  await page.waitForSelector(`[data-step=committed][data-at="${block.committedAt?.toISOString()}"]`)
  await carriage(block).waitFor()
  const headerHash = toHex(block.headerHash)
  t.match(await operate(`/remove?header_hash=${headerHash}`), { headerHash })

  const next = await committed(hash)
  t.not(toHex(next.headerHash), headerHash, 'the store has its transaction in another block')
  await page.waitForSelector(`[data-step=committed][data-at="${next.committedAt?.toISOString()}"]`)
  await carriage(next).waitFor()
  await carriage(block).waitFor({ state: 'detached' })
  await queue.close()
  await visit('devnet')
  await shows('.moves', 'is removed from the state queue')
}
