import t from 'tap'
import { noBrowser } from '../test/browser.js'
import { openConsoleNode } from '../test/console/console-node.js'
import { sizes, story } from '../test/console/story.js'

// `console.full.tap.ts` visits every page.
t.test(
  'the console in Chromium, from the first page to a confirmed payment',
  { skip: noBrowser },
  async (t) => {
    const console = await openConsoleNode(t)
    await t.test('the pages are small, and their policy allows nothing foreign and nothing inline', (t) =>
      sizes(t, console),
    )
    await t.test('a payment, from the mempool to the confirmed state', (t) => story(t, console))
  },
)
