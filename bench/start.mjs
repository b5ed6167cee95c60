// How long @ratatosk/testing takes to start a node: without a template, with one in a new process, and once
// more in that process; elapsed and processor time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, millisecondsOf, processorMicros, record, round } from './lib/figures.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 7)

if (process.send) await measureHere()
else await measureAll()

/** In a process of its own: sends the times of loading the code and of two starts. */
async function measureHere() {
  const [, , templates] = process.argv
  const timed = async (work) => {
    const before = process.cpuUsage()
    const ms = await millisecondsOf(work)
    return { ms, processorMs: processorMicros(before) / 1000 }
  }
  let startNode
  const loaded = await timed(async () => {
    ;({ startNode } = await import('@ratatosk/testing'))
  })
  const started = []
  for (let n = 0; n < 2; n++) {
    let node
    started.push(await timed(async () => (node = await startNode({ templates }))))
    await node.close()
  }
  process.send({ loaded, first: started[0], again: started[1] })
  process.disconnect()
}

async function measureAll() {
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-start-'))
  const measure = async (templates) => {
    const child = fork(import.meta.filename, [templates])
    const exit = once(child, 'exit')
    const [times] = await Promise.race([
      once(child, 'message'),
      exit.then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
    ])
    await exit
    return times
  }
  try {
    const template = join(folder, 'template')
    const without = []
    for (let n = 0; n < Math.min(rounds, 3); n++) without.push(await measure(join(folder, `${n}`)))
    await measure(template)
    const copied = []
    for (let n = 0; n < rounds; n++) copied.push(await measure(template))
    const of = (times) => ({
      ms: median(times.map(({ ms }) => ms)),
      processorMs: median(times.map(({ processorMs }) => processorMs)),
    })
    const figures = {
      loaded: of(copied.map(({ loaded }) => loaded)),
      withoutTemplate: of(without.map(({ first }) => first)),
      fromTemplate: of(copied.map(({ first }) => first)),
      again: of(copied.map(({ again }) => again)),
    }
    for (const [name, { ms, processorMs }] of Object.entries(figures))
      console.log(`  ${name.padEnd(16)} ${round(ms)} ms, of the processor ${round(processorMs)} ms`)
    record('start', { rounds, ...figures })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
