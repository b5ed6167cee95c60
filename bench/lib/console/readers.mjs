// Payments while 50 clients read what as many open pages read, and without them, by turns.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { defer } from '../clean-up.mjs'
import { median } from '../figures.mjs'
import { load, pause } from '../flood/node.mjs'
import { anonymousMiB, processorSeconds } from '../usage.mjs'
import { startBusyNode } from './busy-node.mjs'

const rate = Number(process.env.BENCH_READERS_RATE ?? 1000)
const seconds = Number(process.env.BENCH_READERS_SECONDS ?? 20)
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const readers = Number(process.env.BENCH_READERS ?? 50)
/** What a page reads while events come all the time, and how often. */
const polls = [
  ['/explorer/overview', 1000],
  ['/explorer/blocks?limit=100', 1000],
  ['/explorer/rates', 2000],
]

if (process.send && process.argv[2] === 'readers') read(process.argv[3])

/** In a process of its own, until the parent ends it. */
function read(url) {
  for (let n = 0; n < readers; n++) {
    get(`${url}/events`, { agent: false }, (response) => response.resume())
    for (const [path, everyMs] of polls)
      setTimeout(
        async () => {
          for (;;) {
            const began = performance.now()
            await (await fetch(url + path)).arrayBuffer().catch(() => undefined)
            await pause(Math.max(0, everyMs - (performance.now() - began)))
          }
        },
        (n * everyMs) / readers,
      )
  }
  process.send('reads')
}

export async function measureReaders() {
  const node = await startBusyNode(rate * seconds * (2 * rounds + 1))
  await node.pay({ rate, seconds })
  const turn = async (isRead) => {
    const child = isRead ? fork(import.meta.filename, ['readers', node.url]) : undefined
    if (child !== undefined) {
      defer(() => child.kill())
      await once(child, 'message')
      await pause(1000)
    }
    const before = processorSeconds(node.pid)
    const { count, perSecond } = await node.pay({ rate, seconds })
    const microseconds = ((processorSeconds(node.pid) - before) * 1e6) / count
    const memory = anonymousMiB(node.pid)
    child?.kill()
    if (child !== undefined) await once(child, 'exit')
    return { perSecond, microseconds, memory }
  }
  const ratios = { perSecond: [], microseconds: [] }
  const more = []
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [false, true] : [true, false]
    const figures = new Map()
    for (const isRead of order) figures.set(isRead, await turn(isRead))
    const [alone, beside] = [figures.get(false), figures.get(true)]
    for (const name of ['perSecond', 'microseconds']) ratios[name].push(beside[name] / alone[name])
    more.push(beside.memory - alone.memory)
    console.log(
      `  round ${round + 1}: alone ${textOf(alone)}; beside ${readers} readers ${textOf(beside)}; ${load()}`,
    )
  }
  console.log(
    `payments beside ${readers} readers: ${median(ratios.perSecond).toFixed(3)} of the rate alone, ` +
      `${median(ratios.microseconds).toFixed(3)} of the processor time for each; ` +
      `${median(more).toFixed(0)} MiB more memory (medians of ${rounds} rounds)`,
  )
}

function textOf({ perSecond, microseconds }) {
  return `${perSecond.toFixed(0)}/s, ${microseconds.toFixed(0)} µs`
}
