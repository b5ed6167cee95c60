import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { ask, until } from '@ratatosk/test-kit/http'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { anyPlacement } from '../backends.js'
import { openBrowser } from '../browser.js'
import { initialised, runNode, watcherPhrase } from '../node.js'

export const operatorToken = 'an-operator-token'

/** Requests that a test has fail: malformed, without a token, for what is not there, and by a proxy. */
const refused = /status of (400|401|404|409|502)/

export type ConsoleNode = Awaited<ReturnType<typeof openConsoleNode>>

/** A node with a devnet and an operator's token, and its console in Chromium. */
export async function openConsoleNode(t: Test) {
  const settings = {
    ...(await anyPlacement(t)),
    OPERATOR_TOKEN: operatorToken,
    WATCHER_SEED_PHRASE: watcherPhrase,
    MATURITY_WINDOW_MS: '20000',
    MERGE_INTERVAL_MS: '2000',
  }
  const node = await runNode(t, settings)
  const { store, url } = node
  await initialised(url)
  const opened = await openConsole(await openBrowser(t), url, refused)
  const { page, faults, picture } = opened
  /** Sends JSON as the operator. */
  const post = (path: string, body: unknown) =>
    ask(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
      body: JSON.stringify(body),
    })
  const get = async (path: string, headers: Record<string, string> = {}) =>
    JSON.parse((await ask(`${url}${path}`, { headers })).body)
  return {
    ...opened,
    node,
    settings,
    url,
    get,
    post,
    /** Stops or starts what commits and merges. */
    async setSequencer(sequencer: 'running' | 'stopped') {
      const { status } = await post('/devnet/sequencer', { sequencer })
      if (status !== 200) throw new Error(`the sequencer is not ${sequencer}: ${status}`)
    },
    operate: (path: string) => get(path, { authorization: `Bearer ${operatorToken}` }),
    /** Opens a page as a link does. */
    async visit(route: string) {
      await page.goto(`${url}/console#/${route}`)
      await page.waitForSelector('main')
    },
    async giveToken(text = operatorToken) {
      await page.fill('input[name=token]', text)
      await page.click('button:text("Use it")')
    },
    async looksRight(subtest: Test, name: string) {
      subtest.same(await faults(), [], `${name}: axe-core finds nothing, and nothing is too wide`)
      await picture(name)
    },
    /** Waits until a transaction's block is in the state queue, and returns it. */
    async committed(hash: string) {
      const found = async () => {
        const { block } = (await store.placeOf(Buffer.from(hash, 'hex'))) ?? {}
        return block && store.explorer.block(block.headerHash)
      }
      await until(async () => ['committed', 'mature', 'merged'].includes((await found())?.state ?? ''), {
        what: `the block of ${hash} is committed`,
      })
      return (await found())!
    },
  }
}

/** Where `RATATOSK_SCREENSHOTS` wants pictures of the pages. */
const pictures = process.env.RATATOSK_SCREENSHOTS
const phone = 390
const widths = [1440, phone] as const
const schemes = ['light', 'dark'] as const

/** Elements that scroll sideways or are cut off: the beginnings of their HTML. */
const sidewaysOnes = `[...document.querySelectorAll('main *')]
  .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
  .filter((each) => getComputedStyle(each).overflowX === 'auto' || each.matches('table, tr, td'))
  .map(({ outerHTML }) => outerHTML.slice(0, 120))`

interface ConsolePage {
  readonly page: Page
  /** Errors, dialogs and foreign requests so far. */
  readonly problems: readonly string[]
  /** Waits until an element shows a text. */
  shows(selector: string, text: string): Promise<void>
  /** Takes pictures, light and dark, at both widths. */
  picture(name: string): Promise<void>
  /** The faults by axe-core, and elements wider than the page, light and dark, at both widths. */
  faults(): Promise<readonly string[]>
}

/** Opens a page that records every problem but the `expected` errors. */
async function openConsole(
  browser: Browser,
  url: string,
  expected: RegExp | undefined = undefined,
): Promise<ConsolePage> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected?.test(message.text()))
      problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('dialog', (dialog) => problems.push(dialog.message()))
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(request.url())
  })

  async function everyLook(see: (look: string) => Promise<void>): Promise<void> {
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        await see(`${colorScheme}-${width}`)
      }
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1440, height: 900 })
  }

  return {
    page,
    problems,
    async shows(selector, text) {
      await page.locator(selector).filter({ hasText: text }).first().waitFor({ timeout: 20_000 })
    },
    async picture(name) {
      if (pictures === undefined) return
      await mkdir(pictures, { recursive: true })
      await everyLook(async (look) => {
        await page.screenshot({ path: `${pictures}/${name}-${look}.png`, fullPage: true })
      })
    },
    async faults() {
      const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
      await page.evaluate(await readFile(source, 'utf8'))
      const found: string[] = []
      await everyLook(async (look) => {
        const { violations }: AxeResults = await page.evaluate("axe.run({ resultTypes: ['violations'] })")
        for (const { id, nodes } of violations)
          found.push(`${look} ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
        const wider = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        if (wider !== 0) found.push(`${look}: the page is ${wider} px wider than the window`)
        if (!look.endsWith(`-${phone}`)) return
        const scrolled: string[] = await page.evaluate(sidewaysOnes)
        for (const html of scrolled) found.push(`${look}: scrolls sideways: ${html}`)
      })
      return found
    },
  }
}
