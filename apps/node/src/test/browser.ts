import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Cip30Wallet } from '@ratatosk/client/wallet'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { temporaryDirectory } from './backends.js'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** Whether tests in a browser are skipped. */
export const noBrowser = !existsSync(executablePath) && process.env.RATATOSK_REQUIRE_SERVICES !== '1'

export interface PageGlobals {
  readonly cardano: { readonly ratatosk: Cip30Wallet }
  readonly page: typeof import('./page/payment.js')
  /** Signs as account 5 does, outside the page. */
  signAs5(tx: string): Promise<string>
}

/** Starts Chromium, and ends it when the test ends. */
export async function openBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: await temporaryDirectory(t) } as Record<string, string>,
  })
  t.teardown(() => browser.close())
  return browser
}

/** Opens a page of another origin, with a script tag if a URL is given. */
export async function openPages(t: Test): Promise<(script?: string) => Promise<Page>> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./page/payment.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'page',
    platform: 'browser',
  })
  const host = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<html>'),
  )
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  t.teardown(() => host.close())
  const browser = await openBrowser(t)
  return async (script) => {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`)
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    if (script !== undefined) await page.addScriptTag({ url: script })
    return page
  }
}
