import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { submit } from '../node.js'
import { transferFrom } from '../transfers.js'
import type { ConsoleNode } from './console-node.js'

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
