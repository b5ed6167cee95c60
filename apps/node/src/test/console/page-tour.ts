import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { embedded } from '../backends.js'
import { runNode } from '../node.js'
import type { ConsoleNode } from './console-node.js'

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
