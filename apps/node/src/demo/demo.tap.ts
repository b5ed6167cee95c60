import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { embedded } from '../test/backends.js'
import { spawnNode } from '../test/node-process.js'

// Embedded databases are slow to begin where many tests share the processor.
t.setTimeout(600_000)

/** The way of a payment is the same, with less waiting at its end. */
const shortWindow = { MATURITY_WINDOW_MS: '5000' }

const main = fileURLToPath(new URL('./main.js', import.meta.url))

async function demo(
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, ...environment },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

/** A port on which nothing listens. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return String(typeof address === 'object' ? address?.port : undefined)
}

t.test(
  'follows a payment to the merge on a node that it starts, and shows the reason of a dead letter',
  async (t) => {
    const { code, output } = await demo({ PORT: await freePort(), ...shortWindow })
    t.equal(code, 0, output)
    t.match(output, /starts one of its own/)
    t.match(output, /given up after 5 attempts/)
    t.match(output, /BadInputsUTxO: /)
    t.match(output, /we +59\.\d+ ADA\n +the friend +40 ADA/)
  },
)

t.test('runs several times at once on a running node', async (t) => {
  const node = await spawnNode(t, { ...(await embedded(t)), ...shortWindow })
  const runs = await Promise.all([
    demo({ RATATOSK_URL: node.url }),
    demo({ RATATOSK_URL: node.url }),
    demo({ PORT: new URL(node.url).port }),
  ])
  for (const { code, output } of runs) {
    t.equal(code, 0, output)
    t.match(output, `The node at ${node.url} is up.`)
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
  const preprod = await spawnNode(t, { ...(await embedded(t)), NETWORK: 'preprod' })
  const poor = await demo({ RATATOSK_URL: preprod.url })
  t.equal(poor.code, 1)
  t.match(poor.output, /No devnet wallet has an output left on this node/)
})
