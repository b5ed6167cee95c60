import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { embedded, temporaryDirectory } from '../apps/node/dist/test/backends.js'
import { freePort } from '../apps/node/dist/test/free-port.js'
import { spawnNode } from '../apps/node/dist/test/node-process.js'

// A node of its own, a maturity window and a merge, four times, where many tests share the processor.
t.setTimeout(600_000)

/** The way of a payment is the same, with less waiting at its end. */
const shortWindow = { MATURITY_WINDOW_MS: '5000' }

const main = fileURLToPath(new URL('demo/main.js', import.meta.url))

async function demo(environment) {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...environment },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

t.test('follows a payment to the merge on a node that it starts', async (t) => {
  const { code, output } = await demo({ PORT: await freePort(), ...shortWindow })
  t.equal(code, 0, output)
  t.match(output, /starts one of its own/)
  t.match(output, /we +59\.\d+ ADA\n +the friend +40 ADA/)
})

t.test('runs several times at once on a running node, and shows why it rejects a transaction', async (t) => {
  const node = await spawnNode(t, { ...(await embedded(t)), ...shortWindow })
  const runs = await Promise.all([
    demo({ RATATOSK_URL: node.url }),
    demo({ RATATOSK_URL: node.url }),
    demo({ PORT: new URL(node.url).port }),
  ])
  for (const { code, output } of runs) {
    t.equal(code, 0, output)
    t.match(output, `The node at ${node.url} is up.`)
    t.match(output, /rejected after 1 attempt\n +BadInputsUTxO: .* was spent by transaction [0-9a-f]{64}\n/)
    t.match(output, /GET \/tx answers 404/)
    t.match(output, /merged into the confirmed state/)
    t.match(output, /GET \/txs is unchanged/)
  }
  t.equal(node.output().match(/"code":"BadInputsUTxO"/g)?.length, 3, 'the log names the reason of each')
})

t.test('exits with a message if no node runs, or if its ledger has no devnet funds', async (t) => {
  const away = await demo({ RATATOSK_URL: `http://127.0.0.1:${await freePort()}` })
  t.equal(away.code, 1)
  t.match(away.output, /No node answers at .*, which RATATOSK_URL names/)
  const GENESIS_FILE = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(GENESIS_FILE, '{ "utxos": [] }')
  const empty = await spawnNode(t, { ...(await embedded(t)), GENESIS_FILE })
  const poor = await demo({ RATATOSK_URL: empty.url })
  t.equal(poor.code, 1)
  t.match(poor.output, /No devnet wallet has an output left on this node/)
})
