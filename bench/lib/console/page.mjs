// A page that is open while payments come at a steady rate: tasks of more than 50 ms, its heap, and whether
// its counts are the store's.
import { median, round } from '../figures.mjs'
import { load, pause, until } from '../flood/node.mjs'
import { startBusyNode } from './busy-node.mjs'
import { openPage } from './chromium.mjs'

const rate = Number(process.env.BENCH_RATE ?? 200)
const seconds = Number(process.env.BENCH_SECONDS ?? 600)
const samples = 20
const stages = ['queue', 'mempool', 'open', 'committed', 'merged']

export async function measurePage() {
  const node = await startBusyNode(rate * seconds)
  const page = await openPage(node.url)
  await pause(3000)
  await page.evaluate(() => {
    window.longTasks = []
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) window.longTasks.push([startTime, duration])
    }).observe({ entryTypes: ['longtask'] })
  })
  const session = await page.context().newCDPSession(page)
  const heaps = []
  /** When the benchmark itself had garbage collected, which holds the page up: start and end. */
  const collections = []
  const now = () => page.evaluate(() => performance.now())
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      // The heap without its garbage.
      const began = await now()
      await session.send('HeapProfiler.collectGarbage')
      collections.push([began, await now()])
      const { usedSize } = await session.send('Runtime.getHeapUsage')
      heaps.push(usedSize / 1_048_576)
      await pause((seconds * 1000) / samples)
    }
  })()
  const { count, perSecond } = await node.pay({ rate, seconds })
  isOver = true
  await watching
  const shown = async () => {
    const counts = await Promise.all(
      stages.map((name) => page.getAttribute(`[data-stage=${name}] [data-count]`, 'data-count')),
    )
    return counts.reduce((sum, each) => sum + Number(each), 0)
  }
  const counted = await node.counted()
  await until(async () => (await shown()) === counted, `the page does not show ${counted} transactions`)
  const all = await page.evaluate(() => window.longTasks)
  const tasks = all.filter(
    ([start, duration]) => !collections.some(([from, to]) => start < to && start + duration > from),
  )
  // The heap grows until the page has as many blocks and events as it keeps.
  const settled = heaps.slice(samples / 5)
  const middle = median(settled)
  const percent = (heap) => `${((100 * heap) / middle - 100).toFixed(1)} %`
  const longest = tasks.length > 0 ? `, the longest ${round(Math.max(...tasks.map(([, ms]) => ms)))} ms` : ''
  console.log(
    `${round(count)} payments at ${perSecond.toFixed(0)} a second, ${load()}: ${tasks.length} tasks of ` +
      `more than 50 ms${longest}, and ${all.length - tasks.length} while the benchmark collected garbage\n` +
      `  heap ${middle.toFixed(1)} MiB, from ${percent(Math.min(...settled))} to ` +
      `${percent(Math.max(...settled))}\n` +
      `  the page shows ${round(counted)} transactions, as the store counts`,
  )
}
