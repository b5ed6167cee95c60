import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { refusalOf, submit } from '../test/node.js'
import { failedStart, spawnGroup, spawnNode } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

// A dozen starts, several of them with an embedded database that is created anew.
t.setTimeout(600_000)

const directory = await temporaryDirectory(t)
const dataDirectory = join(directory, 'data')
const file = async (name: string, content: string) => {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

t.test('a failed start says which setting is wrong', async (t) => {
  const devnet = JSON.parse(await readFile(new URL('../../parameters/devnet.json', import.meta.url), 'utf8'))
  const { min_fee_a: _omitted, ...withoutFee } = devnet
  const [entry] = JSON.parse(
    await readFile(new URL('../../genesis/devnet.json', import.meta.url), 'utf8'),
  ).utxos
  const genesis = (name: string, utxos: unknown) => file(name, JSON.stringify({ utxos }))
  const plainFile = await file('plain', '')

  for (const [environment, sentence] of [
    [{ NODE_ROLE: 'sequencer' }, /^NODE_ROLE is "sequencer" but DATABASE_URL is not set: /m],
    [
      { OPERATOR_SEED_PHRASE: 'test '.repeat(24) },
      /^OPERATOR_SEED_PHRASE: The seed phrase cannot be read: 24 words are not a BIP-39 phrase/m,
    ],
    [
      { PROTOCOL_PARAMETERS_FILE: '/nowhere' },
      /^PROTOCOL_PARAMETERS_FILE is "\/nowhere": the file cannot be read: it does not exist\.$/m,
    ],
    [{ PROTOCOL_PARAMETERS_FILE: await file('a.json', '{') }, /a\.json": the file is not JSON/],
    [{ PROTOCOL_PARAMETERS_FILE: await file('b.json', '[]') }, /b\.json": .*expected a JSON object\.$/m],
    [
      { PROTOCOL_PARAMETERS_FILE: await file('c.json', JSON.stringify({ min_fee_a: 44 })) },
      /c\.json": .*min_fee_b/,
    ],
    [{ PROTOCOL_PARAMETERS_FILE: await file('d.json', JSON.stringify(withoutFee)) }, /d\.json": .*min_fee_a/],
    [
      { GENESIS_FILE: '/nowhere' },
      /^GENESIS_FILE is "\/nowhere": the file cannot be read: it does not exist\.$/m,
    ],
    [{ GENESIS_FILE: await file('e.json', '{}') }, /e\.json": it must hold \{ "utxos": \[ … \] \}\.$/m],
    [
      { GENESIS_FILE: await genesis('f.json', [{ outref: 'ab#0', output: '80' }]) },
      /f\.json": utxos\[0\] must be /,
    ],
    [{ GENESIS_FILE: await genesis('g.json', [{ ...entry, output: '80' }]) }, /g\.json": utxos\[0\]: /],
    [
      { GENESIS_FILE: await genesis('h.json', [entry, entry]) },
      /h\.json": utxos\[1\]: its outref is not unique\.$/m,
    ],
    [
      { GENESIS_FILE: await genesis('i.json', [{ ...entry, outref: `${'ab'.repeat(32)}#65536` }]) },
      /i\.json": utxos\[0\]: the index of its outref is greater than 65535\.$/m,
    ],
    [
      {
        GENESIS_FILE: await genesis('j.json', [
          { ...entry, output: `${'a200581d61'}${'11'.repeat(28)}01${'1a000f4240'}` },
        ]),
      },
      /j\.json": utxos\[0\]: its address does not belong to devnet\.$/m,
    ],
    [
      { GENESIS_FILE: await genesis('k.json', [entry]), NETWORK: 'mainnet' },
      /^GENESIS_FILE is set but NETWORK is "mainnet": /m,
    ],
    [
      { DATA_DIR: join(plainFile, 'x') },
      /^DATA_DIR is ".*plain\/x": it cannot be written to \(ENOTDIR\)\. Choose another directory\.$/m,
    ],
  ] as const) {
    t.match(await refusalOf({ DATA_DIR: dataDirectory, ...environment }), sentence)
  }
})

t.test('a failed start prints a message, not a stack trace, and no secret', async (t) => {
  for (const [environment, sentence] of [
    [{ PORT: 'x' }, /^PORT is "x": it must be a whole number from 0 to 65535\.$/m],
    [{ DATABASE_URL: 'postgres://me:opensesame@127.0.0.1:1/ledger' }, /^The store cannot be opened: /m],
  ] as const) {
    const { code, stdout, stderr } = await failedStart(t, { DATA_DIR: dataDirectory, ...environment })
    t.equal(code, 1)
    t.match(stderr, sentence)
    t.notMatch(stderr, /^\s+at /m)
    t.notMatch(stdout + stderr, 'opensesame')
  }
})

t.test(
  'an embedded node prints its address, keeps its data across restarts, and locks its directory',
  async (t) => {
    const environment = { DATA_DIR: dataDirectory }
    const first = await spawnNode(t, { ...environment, LOG_LEVEL: 'fatal' })
    t.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    t.match(await ask(`${first.url}/health/ready`), { status: 200 })
    t.match(first.output(), '"genesis":{"outputs":200,"applied":true')

    const { port } = new URL(first.url)
    const taken = await failedStart(t, environment)
    t.equal(taken.code, 1)
    t.match(taken.stderr, /^DATA_DIR is ".*data": the process \d+ uses it\. /m)

    t.equal(await first.stop('SIGTERM'), 0)
    await t.rejects(ask(`${first.url}/health/live`), { code: 'ECONNREFUSED' })

    const occupied = createServer()
    await new Promise<void>((resolve) => occupied.listen(Number(port), '127.0.0.1', resolve))
    const portTaken = await failedStart(t, { ...environment, PORT: port })
    t.equal(portTaken.code, 1)
    t.match(portTaken.stderr, `PORT is ${port}: another process listens on this port.`)
    await new Promise((resolve) => occupied.close(resolve))

    const second = await spawnNode(t, environment)
    t.match(second.output(), '"genesis":{"outputs":200,"applied":false')
    t.equal(await second.stop('SIGINT'), 0)

    const other = JSON.stringify({ utxos: [] })
    const mismatch = await failedStart(t, { ...environment, GENESIS_FILE: await file('other.json', other) })
    t.equal(mismatch.code, 1)
    t.match(mismatch.stderr, /^The ledger did not start with the outputs of GENESIS_FILE ".*other\.json"\. /m)
  },
)

t.test('a node starts 300 ms after another was killed, and nothing is lost', async (t) => {
  const environment = { DATA_DIR: dataDirectory }
  const transfers = await Promise.all([0, 1, 2, 3, 4].map((place) => transferFrom(0, place)))
  const first = await spawnGroup(t, environment)
  for (const { transfer } of transfers) t.equal((await submit(first.url, transfer.cborHex)).status, 200)
  first.kill()
  // The operating system may still be ending the processes.
  await sleep(300)
  const second = await spawnGroup(t, environment)
  t.match(await ask(`${second.url}/health/ready`), { status: 200 })
  for (const { transfer } of transfers) {
    const found = async () => (await ask(`${second.url}/tx?tx_hash=${transfer.hash}`)).status === 200
    await until(found, { what: `${transfer.hash} is in the ledger` })
  }
})

t.test('a start after a killed first start recreates what was incomplete', async (t) => {
  const halfMade = join(directory, 'half-made')
  await mkdir(join(halfMade, 'postgresql.new', 'base'), { recursive: true })
  await writeFile(join(halfMade, 'postgresql.new', 'PG_VERSION'), '17\n')
  await writeFile(join(halfMade, 'lock.1.a-boot-long-ago-1.abc'), '')
  const node = await spawnNode(t, { DATA_DIR: halfMade })
  t.match(await ask(`${node.url}/health/ready`), { status: 200 })
})

t.test('a start on damaged data rebuilds the roots, and refuses to overwrite a store', async (t) => {
  const roots = join(dataDirectory, 'roots')
  await truncate(join(roots, 'data.mdb'), 10_000)
  const node = await spawnNode(t, { DATA_DIR: dataDirectory })
  t.match(await ask(`${node.url}/health/ready`), { status: 200 })
  t.match(node.output(), `"movedTo":"${roots}.damaged"`)
  t.equal(await node.stop('SIGTERM'), 0)

  await rm(join(dataDirectory, 'postgresql', 'PG_VERSION'))
  const { code, stderr } = await failedStart(t, { DATA_DIR: dataDirectory })
  t.equal(code, 1)
  t.match(stderr, /^The folder ".*data\/postgresql" is not empty, but it has no file PG_VERSION: /m)
})
