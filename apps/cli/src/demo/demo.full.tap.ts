import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@ratatosk/test-kit'
import t, { type Test } from 'tap'
import { startedNode } from '../test/nodes.js'
import { run } from '../test/run.js'

// A node of its own, a maturity window and a merge, where many tests share the processor.
t.setTimeout(600_000)

/** The demo is the same, with less waiting at its end. */
const shortWindow = { MATURITY_WINDOW_MS: '5000' }

async function temporaryDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  t.teardown(() => rm(directory, { recursive: true }))
  return directory
}

t.test('follows a payment to the merge on a node that it starts', async (t) => {
  const { status, out, error } = await run(['demo'], { PORT: await freePort(), ...shortWindow })
  t.equal(status, 0, error)
  t.match(out, /The demo starts one/)
  t.match(out, /we +59\.\d+ ada\n +the friend +40 ada/)
})

t.test('runs several times at once on a running node', async (t) => {
  const node = await startedNode(shortWindow)
  t.teardown(() => node.stop())
  const runs = await Promise.all([
    run(['demo', '--url', node.url]),
    run(['demo'], { PORT: new URL(node.url).port }),
    run(['demo', '--url', node.url, '--json']),
  ])
  for (const { status, error } of runs) t.equal(status, 0, error)
  for (const { out } of runs.slice(0, 2)) {
    t.match(out, 'A node runs already.')
    t.match(out, /rejected after 1 attempt\n +BadInputsUTxO: .* was spent by transaction [0-9a-f]{64}\n/)
    t.match(out, /GET \/tx answers 404/)
    t.match(out, /merged into the confirmed state/)
    t.match(out, /GET \/txs is unchanged/)
  }
  t.match(JSON.parse(runs[2].out), {
    accepted: [
      { txHash: /^[0-9a-f]{64}$/, lovelace: '100000000', afterMs: Number },
      { txHash: /^[0-9a-f]{64}$/, lovelace: '40000000', afterMs: Number },
    ],
    rejected: { txHash: /^[0-9a-f]{64}$/, code: 'BadInputsUTxO' },
    balances: { own: /^59\d{6}$/, friend: '40000000' },
    blocks: [/^[0-9a-f]{56}$/],
    startedNode: false,
  })
})

t.test('ends with a message if no node runs, if it fails, or has no devnet funds', async (t) => {
  const away = await run(['demo', '--url', `http://127.0.0.1:${await freePort()}`])
  t.match(away, { status: 1, out: /Ratatosk/, error: /No node answers at .*: `ratatosk start` starts one/ })
  // No HTTP server: what one answers is compared with the document of the API.
  const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
  const failing = createServer((socket) => socket.once('data', () => socket.end(unavailable)))
  failing.listen(0, '127.0.0.1')
  await once(failing, 'listening')
  t.teardown(() => failing.close())
  const { port } = failing.address() as AddressInfo
  const busy = await run(['demo'], { PORT: String(port) })
  t.match(busy, { status: 1, error: /503/ })
  t.notMatch(busy.out, 'The demo starts one', 'a node that fails is there')
  const GENESIS_FILE = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(GENESIS_FILE, '{ "utxos": [] }')
  const empty = await startedNode({ GENESIS_FILE })
  t.teardown(() => empty.stop())
  const poor = await run(['demo', '--url', empty.url, '--json'])
  t.match({ ...poor, out: JSON.parse(poor.out) }, { status: 1, out: { error: { code: 'CLI_NO_FUNDS' } } })
})

for (const [signal, status] of [
  ['SIGHUP', 129] as const,
  ['SIGINT', 130] as const,
  ['SIGTERM', 143] as const,
])
  t.test(`${signal} stops the node that it started, and removes its folder`, async (t) => {
    const TMPDIR = await temporaryDirectory(t)
    const main = new URL('../main.js', import.meta.url).pathname
    const child = spawn(process.execPath, [main, 'demo'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, TMPDIR, PORT: await freePort() },
    })
    const exit = once(child, 'exit')
    await new Promise<void>((resolve) =>
      child.stdout.setEncoding('utf8').on('data', (text) => text.includes('It is up at') && resolve()),
    )
    t.match((await readdir(TMPDIR)).join(), /ratatosk-demo-/)
    child.kill(signal)
    t.same(await exit, [status, null])
    t.notMatch((await readdir(TMPDIR)).join(), /ratatosk-demo-/)
  })
