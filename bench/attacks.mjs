// The longest wait of GET /health/live while scripts attack a node, and its memory before and after.
//
// BENCH_ATTACKS=<folder of scripts> node bench/attacks.mjs [embedded|services] [numbers of scripts]
//
// A script is named `<number>-<name>.mjs` and takes a built checkout, the URL of a node, and the arguments
// below. Scripts 20, 21, 23 and 24 start, kill and damage nodes of their own, which cannot be measured so:
// the tests of lost services, clocks, damaged data and full disks in docs/testing.md cover them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp, defer } from './lib/clean-up.mjs'
import { here, startNodeProcess } from './lib/node-process.mjs'
import { databaseUrl, redisUrl, removeTraces } from './lib/services.mjs'

/** Arguments after the URL; PID is the node's. */
const scripts = {
  10: ['24', '200'],
  11: ['60000'],
  12: ['100000'],
  13: ['20', '1'],
  14: ['2000'],
  15: ['50', 'PID'],
  16: ['100', 'PID'],
  17: ['1', '40'],
  18: ['2000', '1000', 'PID'],
  19: ['10000'],
  22: ['5000', '20'],
  25: ['900'],
}
/** Milliseconds after which a script is ended. */
const mostMs = 180_000
/** Milliseconds after which memory is read again. */
const restMs = 15_000

const [backend = 'embedded', ...chosen] = process.argv.slice(2)
const folder = process.env.BENCH_ATTACKS
if (folder === undefined) {
  console.log('skipped: BENCH_ATTACKS names no folder of scripts')
  process.exit()
}
if (!['embedded', 'services'].includes(backend))
  throw new Error('usage: [embedded|services] [numbers of scripts]')

const megabytes = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

/** Milliseconds until the answer; Infinity without one. */
function waitFor(url) {
  const from = performance.now()
  return new Promise((resolve) => {
    const asking = request(url, { agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(performance.now() - from))
    })
    asking.on('error', () => resolve(Number.POSITIVE_INFINITY)).end()
  })
}

/** Runs a script. @returns the longest wait meanwhile, and how the script ended */
async function attack(script, node) {
  const child = spawn(process.execPath, script, { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), mostMs)
  let over = false
  ended.then(() => {
    over = true
  })
  let worst = 0
  while (!over) {
    worst = Math.max(worst, await waitFor(`${node.url}/health/live`))
    await sleep(20)
  }
  clearTimeout(late)
  const [code] = await ended
  return { worst, end: code === 0 ? 'ended' : code === null ? 'killed' : `exit ${code}` }
}

const name = `attacks_${process.pid}`
const services = {
  DATABASE_URL: databaseUrl,
  DATABASE_SCHEMA: name,
  QUEUE_PREFIX: name,
  REDIS_URL: redisUrl,
}
if (backend === 'services') defer(() => removeTraces(name))
const node = await startNodeProcess(backend === 'services' ? services : {})
const rows = []
try {
  await sleep(restMs)
  const first = megabytes(node.pid)
  for (const file of readdirSync(folder).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))) {
    const number = /^(\d+)-.*\.mjs$/.exec(file)?.[1]
    const given = scripts[number]
    if (given === undefined || (chosen.length > 0 && !chosen.includes(number))) continue
    console.log(`\n${file}`)
    const before = megabytes(node.pid)
    const rest = given.map((each) => (each === 'PID' ? String(node.pid) : each))
    const { worst, end } = await attack([join(folder, file), here, node.url, ...rest], node)
    await sleep(restMs)
    const row = { script: file, 'longest wait, ms': Math.round(worst), 'MB before': Math.round(before) }
    rows.push({ ...row, 'MB after': Math.round(megabytes(node.pid)), end })
  }
  console.log(`\n${backend}, ${Math.round(first)} MB at first`)
  console.table(rows)
} finally {
  await cleanUp()
}
