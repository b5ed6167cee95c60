// The console in Chromium.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defer } from '../clean-up.mjs'
import { here } from '../node-process.mjs'

/** Opens a page; `cleanUp` ends the browser. */
export async function openPage(url) {
  const { chromium } = createRequire(join(here, 'apps/node/package.json'))('playwright-core')
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
  defer(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(`${url}/console`)
  await page.waitForSelector('[data-stage=mempool]')
  return page
}
