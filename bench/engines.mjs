// The rate of /submit, the flow through three roles, and the start of a node on each version of Node.js of
// scripts/engines. About seven minutes on an idle machine.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engines } from '../apps/node/dist/test/engines.js'
import { record } from './lib/figures.mjs'
import { here } from './lib/node-process.mjs'
import { engines as section } from './lib/plots/charts.mjs'

const seconds = process.env.BENCH_SECONDS ?? '30'
const measurements = {
  submit: ['submit.mjs', { BENCH_ROUNDS: '2', BENCH_SECONDS: '3' }],
  'flow-split': [
    'blocks.mjs',
    { BENCH_PARTS: 'flow', BENCH_RATES: '0', BENCH_SECONDS: seconds, BENCH_OUTPUTS: '200000' },
  ],
  start: ['start.mjs', { BENCH_ROUNDS: '3' }],
}

const installed = await engines()
if (typeof installed === 'string') throw new Error(installed)
const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-engines-'))
try {
  const figures = []
  for (const { version, program } of installed) {
    const results = {}
    for (const [name, [script, environment]] of Object.entries(measurements)) {
      console.log(`\nNode.js ${version}: ${script}`)
      const env = { ...process.env, ...environment, BENCH_JSON: folder }
      const { status } = spawnSync(program, [join(here, 'bench', script)], { stdio: 'inherit', env })
      if (status !== 0) throw new Error(`${script} ended with ${status} on Node.js ${version}`)
      results[name] = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
    }
    const [flow] = results['flow-split'].flows
    figures.push({
      version,
      submit: { perSecond: results.submit.perSecond, ratio: results.submit.ratio },
      flow: { perSecond: flow.perSecond, microseconds: flow.microseconds },
      start: results.start.fromTemplate,
    })
  }
  record('engines', { seconds: Number(seconds), engines: figures })
  console.log(`\n${section.tableOf(figures)}`)
} finally {
  rmSync(folder, { recursive: true })
}
