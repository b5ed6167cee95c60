import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { runNode, submit } from '../node.js'
import { transferFrom } from '../transfers.js'
import type { ConsoleNode } from './console-node.js'

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
