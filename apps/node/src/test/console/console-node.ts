import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { anyPlacement } from '../backends.js'
import { openBrowser } from '../browser.js'
import { initialised, runNode } from '../node.js'
import { watcherPhrase } from '../watching.js'
import { openConsole } from './page.js'

export const operatorToken = 'an operator token'

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
