// `npm start` of a node that has run before, with the console and without it by turns; with BENCH_BEFORE,
// of this checkout and of an older one, which must be built.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { defer } from '../clean-up.mjs'
import { median, millisecondsOf, round } from '../figures.mjs'
import { load } from '../flood/node.mjs'
import { here } from '../node-process.mjs'

const rounds = Number(process.env.BENCH_STARTS ?? 7)
const before = process.env.BENCH_BEFORE

export async function measureStart() {
  const sides = [
    before === undefined
      ? { name: 'without the console', checkout: here, environment: { SERVE_CONSOLE: 'false' } }
      : { name: 'before', checkout: resolve(before), environment: {} },
    { name: 'now', checkout: here, environment: {} },
  ].map((side) => ({ ...side, folder: mkdtempSync(join(tmpdir(), 'ratatosk-bench-start-')), times: [] }))
  for (const { folder } of sides) defer(() => rmSync(folder, { recursive: true, force: true }))
  for (const side of sides) await start(side)
  for (let n = 0; n < rounds; n++)
    for (const side of n % 2 === 0 ? sides : sides.toReversed()) side.times.push(await start(side))
  const [other, now] = sides.map(({ times }) => median(times))
  console.log(
    `npm start, once more: ${round(now)} ms, ${round(other)} ms ${sides[0].name}: ratio ` +
      `${(now / other).toFixed(3)} (medians of ${rounds}); ${load()}`,
  )
}

/** Starts a node and ends it; the milliseconds until it says its address. */
async function start({ checkout, folder, environment }) {
  const child = spawn(process.execPath, [join(checkout, 'scripts/start.mjs')], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: '0', LOG_FORMAT: 'json', DATA_DIR: folder, ...environment },
  })
  const ended = once(child, 'close')
  let text = ''
  const ms = await millisecondsOf(
    () =>
      new Promise((resolve, reject) => {
        ended.then(() => reject(new Error(`npm start has ended before the node was up:\n${text}`)))
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
            if (/"url":"http/.test(text)) resolve()
          })
      }),
  )
  child.kill('SIGTERM')
  await ended
  return ms
}
