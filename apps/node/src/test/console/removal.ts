import { toHex } from '@ratatosk/cbor'
import type { Test } from 'tap'
import type { ConsoleNode } from './console-node.js'

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
