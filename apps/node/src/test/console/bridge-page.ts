import { fromHex } from '@ratatosk/cbor'
import { testWallets } from '@ratatosk/devnet'
import type { Test } from 'tap'
import type { ConsoleNode } from './console-node.js'

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
