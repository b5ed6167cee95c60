import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../test/run.js'

// Three nodes of its own, where many tests share the processor.
t.setTimeout(600_000)

/** Starts the story in a process of its own. */
function start(options: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const main = new URL('../main.js', import.meta.url).pathname
  const child = spawn(process.execPath, [main, 'demo', 'fraud', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...environment },
  })
  child.stdout.setEncoding('utf8')
  return { child, exit: once(child, 'exit') }
}

t.test('an operator loses its bond for a theft, and the ledger is as before', async (t) => {
  const { child, exit } = start(['--json'])
  let out = ''
  for await (const text of child.stdout) out += text
  t.same(await exit, [0, null], out)
  const report = JSON.parse(out)
  t.match(report, {
    theft: { txHash: /^[0-9a-f]{64}$/, lovelace: '9998000000', predicates: ['MissingVKeyWitnessesUTXOW'] },
    verdict: {
      headerHash: /^[0-9a-f]{56}$/,
      height: 1,
      state: 'removed',
      reason: /MissingVKeyWitnessesUTXOW/,
      policy: 'witness',
      fraud: 'missingSignature',
      transactions: [{ stage: 'removal', txHash: /^[0-9a-f]{64}$/ }],
    },
    removedAfterMs: Number,
    bond: '500000000',
    nextBlock: /^[0-9a-f]{56}$/,
  })
  t.not(report.nextBlock, report.verdict.headerHash)
  const fee = BigInt(report.verdict.transactions[0].fee)
  t.ok(BigInt(report.gain) + fee > 500_000_000n, 'the bond and the ada of the block')
})

t.test('ctrl-C ends the story, stops its nodes and removes their folder', async (t) => {
  const TMPDIR = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  t.teardown(() => rm(TMPDIR, { recursive: true }))
  const { child, exit } = start([], { TMPDIR })
  let told = ''
  await new Promise<void>((resolve) =>
    child.stdout.on('data', (text) => {
      told += text
      if (told.includes('MissingVKeyWitnessesUTXOW')) resolve()
    }),
  )
  t.match(await readdir(TMPDIR), [/^ratatosk-demo-/])
  child.kill('SIGINT')
  t.same(await exit, [130, null])
  t.same(await readdir(TMPDIR), [])
  t.match(told, /an operator +http:.*, with a bond of 500 ada on layer 1\n/)
  t.match(told, /an honest one +http:.*, with the same bond; its turns begin at /)
  t.match(told, /a watcher +http:.*, with 50,000 ada for fees\n/)
  t.match(told, /a user has 200,000 ada\.\n/)
  t.match(told, /The honest node refuses it:\n/)
})

t.test('refuses another story, and a node for the one that has its own', async (t) => {
  t.match(await run(['demo', 'war']), {
    status: 2,
    error: /There is no demo "war": choose payment, fraud or bridge/,
  })
  const elsewhere = await run(['demo', 'fraud', '--url', 'http://127.0.0.1:3000'])
  t.match(elsewhere, { status: 2, error: /leave out --url/ })
})
