// How long the page of a large block takes to show it.
import { millisecondsOf, round } from '../figures.mjs'
import { load, until } from '../flood/node.mjs'
import { startBusyNode } from './busy-node.mjs'
import { openPage } from './chromium.mjs'

const size = Number(process.env.BENCH_BLOCK ?? 10_000)

export async function measureBlock() {
  const node = await startBusyNode(size)
  await node.setSequencer('stopped')
  await node.pay({ rate: size, seconds: 1 })
  await node.setSequencer('running')
  // The list of blocks would sum the block before the page does.
  const read = async (path) => (await fetch(`${node.url}/explorer/${path}`)).json()
  await until(async () => (await read('overview')).blocks.committed.blocks > 0, 'the block was not committed')
  const page = await openPage(node.url)
  const open = async () => {
    await page.goto(`${node.url}/console#/block/1`)
    await page.reload({ waitUntil: 'commit' })
    await page.waitForSelector('#map rect')
  }
  const first = await millisecondsOf(open)
  const again = await millisecondsOf(open)
  const { block } = await read('block/1?limit=1')
  console.log(
    `the page of a block of ${round(block.transactions)} transactions opens in ${round(first)} ms, ` +
      `again in ${round(again)} ms; ${load()}`,
  )
}
