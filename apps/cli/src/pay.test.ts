import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { decodeAddress, encodeBech32Address, encodeOutputReference } from '@ratatosk/ledger'
import { keysFromSeedPhrase, keysFromSigningKey, toOutput } from '@ratatosk/ledger/builder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lovelaceIn, outputsOf } from './layer2/layer2.js'
import { tools } from './mcp/tools.js'
import { anyPlace, receiver, withNode } from './test/nodes.js'
import { run } from './test/run.js'

vi.setConfig({ testTimeout: 240_000 })

const addressOf = (account: number) =>
  keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account }).addressText

/** A line before each transaction, for who ends the command. */
const progress = new RegExp(
  '^(?:(?:Submitting|\\d of \\d transactions were accepted, which make the first \\d+ payments\\. Next is) ' +
    '[0-9a-f]{64}\\n)*$',
)

/** An address of a key that no one has. */
const person = (n: number): string => {
  const address = decodeAddress(Uint8Array.of(0x60, ...new Uint8Array(26), n >> 8, n & 255))
  if (address.kind === 'byron') throw new Error('not reached')
  return encodeBech32Address(address)
}

const linesFor = (addresses: readonly string[], lovelace: number) =>
  addresses.map((address) => `${address} ${lovelace}\n`).join('')

async function place() {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  const file = (name: string) => join(String(settings.DATA_DIR), name)
  return { environment: { ...settings, ...secrets }, file }
}

test('pays from 200 small outputs, and 250 people at once, and says in how many transactions', async () => {
  const { environment, file } = await place()
  await withNode(environment, async (url) => {
    const client = createClient(url)
    const has = async (address: string) => lovelaceIn(await outputsOf(client, address))
    const asked = async (...argv: string[]) => {
      const { status, out, error } = await run(['pay', ...argv, '--url', url, '--json'])
      expect({ status, error }, out).toEqual({ status: 0, error: expect.stringMatching(progress) })
      const { transactions, reasons } = JSON.parse(out)
      return { transactions, broken: reasons.map((each: { predicate: string }) => each.predicate) }
    }

    const people = Array.from({ length: 250 }, (_, n) => person(n))
    await writeFile(file('people'), linesFor(people, 1_500_000))
    const { status, out } = await run(['pay', '--file', file('people'), '--url', url])
    expect(status, out).toBe(0)
    expect(out).toMatch(
      /\n250 payments on layer 2 in 3 transactions, for fees of .* ada\nOne transaction was not enough:\n/,
    )
    expect(out).toContain('TooManyOutputs: The transaction has 251 outputs, at most 100 are supported')
    expect(await Promise.all(people.map(has))).toEqual(people.map(() => 1_500_000n))

    const many = addressOf(60)
    await writeFile(file('many'), linesFor(Array<string>(200).fill(many), 2_000_000))
    expect((await asked('--file', file('many'))).transactions).toHaveLength(3)
    expect(await outputsOf(client, many)).toHaveLength(200)
    const collected = await asked('--to', receiver, '--lovelace', '390000000', '--account', '60')
    expect(collected.broken).toContain('TooManyInputs')
    expect(collected.transactions.map((each: { payments: number }) => each.payments)).toEqual([0, 0, 0, 1])
    expect(await has(receiver)).toBe(390_000_000n)

    const single = await asked('--to', many, '--lovelace', '5000000')
    expect(single).toMatchObject({ transactions: [{ payments: 1 }], broken: [] })
    const poor = await run([
      'pay',
      '--to',
      receiver,
      '--lovelace',
      '5000000',
      '--account',
      '61',
      '--url',
      url,
    ])
    expect(poor).toMatchObject({ status: 1, error: expect.stringContaining('The wallet lacks') })
  })
})

test('a payment that cannot be read pays nothing', async () => {
  const { file } = await place()
  const right = `${receiver} 2000000`
  for (const [text, error] of [
    ['', /has no payments/],
    [`${right}\n\n${receiver} 1.5\n`, /^Line 3 of ".*many": --lovelace is "1.5"/],
    [`${right} ada=1\n`, /^Line 1 .*--asset is "ada=1"/],
    [`${right} ${'ab'.repeat(28)}=1 more\n`, /^Line 1 .*with spaces between/],
    [`${receiver}\n`, /^Line 1 .*write an address, lovelace/],
  ] as const) {
    await writeFile(file('many'), text)
    const outcome = await run(['pay', '--file', file('many')])
    expect(outcome, text).toMatchObject({ status: 1, error: expect.stringMatching(error) })
  }
  expect(await run(['pay', '--file', file('none')])).toMatchObject({ status: 1 })
  for (const argv of [[], ['--to', receiver], ['--file', file('many'), '--to', receiver]])
    expect(await run(['pay', ...argv])).toMatchObject({ status: 2 })
})

const rejection = {
  code: 'X',
  reason: 'spent\n1 payments in 1 transactions',
  failures: [],
  attempts: 1,
  count: 1,
  submittedAt: 'x',
  firstRejectedAt: 'x',
  rejectedAt: 'x',
}

const names = (count: number) => Array.from({ length: count }, (_, name) => name)

test.each<[string, Lie, string, RegExp, number]>([
  [
    'names fees that it keeps',
    { fees: { min_fee_b: 50_000_000 }, outputs: names(40) },
    '2000000',
    /costs 50\.\d+ ada, more than 1 ada\. Nothing was submitted\. `--max-fee` raises the limit\.\n$/,
    0,
  ],
  [
    'names an output twice',
    { outputs: [1, 1, 1] },
    '5000000',
    /^The wallet lacks 3000000 lovelace on layer 2\. Its address is addr_test1\w+: pay to it with [^\n]+\n$/,
    0,
  ],
  [
    'does not say whether it took one',
    { outputs: [1, 2], submitted: [504, { error: 'late' }] },
    '2000000',
    /^Submitting ([0-9a-f]{64})\nPOST [^\n]* The transaction \1 may have been sent: do not pay [^\n]*\n$/,
    1,
  ],
  [
    'stops in a chain',
    {
      outputs: names(80),
      submission: (count) => (count < 2 ? acceptance() : { ...acceptance(), status: 'rejected', rejection }),
    },
    '150000000',
    new RegExp(
      `${progress.source.slice(0, -1)}spent\\\\u000a1 payments [^.]*\\. 1 of 2 [^.]* first 0 payments\\. ` +
        '[0-9a-f]{64} was refused, and has spent nothing\\.\\n$',
    ),
    2,
  ],
])('a node that %s: one line says where the payer stands', async (_, lie, lovelace, message, count) => {
  const node = await lyingNode(lie)
  const { status, error } = await run(['pay', '--to', receiver, '--lovelace', lovelace, '--url', node.url])
  expect(error).toMatch(message)
  expect([status, node.count]).toEqual([1, count])
})

test('an amount of a file that is too small is named by its line', async () => {
  const node = await lyingNode({ outputs: names(40) })
  const { file } = await place()
  await writeFile(file('many'), `${receiver} 2000000\n\n${receiver} 1000\n`)
  const { status, error } = await run(['pay', '--file', file('many'), '--url', node.url])
  expect(error).toMatch(
    /^Line 3 of ".*many": 1000 lovelace is too little, the least is \d{6}\. Nothing was submitted\.\n$/,
  )
  expect([status, node.count]).toEqual([1, 0])
})

test('pays the fee that --max-fee allows', async () => {
  const node = await lyingNode({ fees: { min_fee_b: 50_000_000 }, outputs: names(40) })
  const argv = ['pay', '--to', receiver, '--lovelace', '2000000', '--url', node.url, '--max-fee']
  expect(await run([...argv, '50000000'])).toMatchObject({
    status: 1,
    error: expect.stringContaining('more than 50 ada'),
  })
  expect(await run([...argv, '0.5'])).toMatchObject({
    status: 2,
    error: expect.stringContaining('--max-fee is "0.5"'),
  })
  expect(node.count).toBe(0)
  expect(await run([...argv, '51000000'])).toMatchObject({ status: 0 })
  expect(node.count).toBe(1)
})

test('an option that has two values pays neither', async () => {
  const unit = 'ab'.repeat(28)
  const argv = ['pay', '--to', receiver, '--lovelace', '2000000']
  for (const [more, error] of [
    [['--asset', `${unit}=1`, '--asset', `${unit}01=1`], /^--asset has two values\./],
    [['--to', receiver], /^--to has two values\./],
    [['--asset', `${unit}=1,${unit.toUpperCase()}=2`], /^--asset has two quantities of/],
  ] as const)
    expect(await run([...argv, ...more])).toMatchObject({ status: 2, error: expect.stringMatching(error) })
})

const key = 'ab'.repeat(28)
const bridge = {
  address: keysFromSigningKey('0b'.repeat(32), { networkId: 0 }).addressText,
  policies: { bridge: key, events: key },
  assets: [],
  eventWaitMs: 0,
  payoutFee: '300000',
  reserveMin: '0',
  treasury: { lovelace: '0', assets: [], outputs: 0 },
  settlements: [],
}
const hash = /[0-9a-f]{64}/

/** No answer to the question for the state, once the transaction is submitted. */
const silent = (path: string): Lie => ({
  outputs: [1, 2, 3],
  others: { '/bridge': [200, bridge], [path]: undefined },
})

test.each([
  ['pay', '/submission', /do not pay again unless `GET \/tx\/status\?tx_hash=[0-9a-f]{64}` says/],
  ['withdraw', '/submission', /do not pay again unless `GET \/tx\/status\?tx_hash=[0-9a-f]{64}` says/],
  [
    'withdraw',
    '/withdrawals',
    /do not withdraw again\. `GET \/withdrawals\?outref=[0-9a-f]{64}%230` shows its state\.$/,
  ],
] as const)('%s that gets no answer of %s names what it has sent', async (name, path, advice) => {
  const { url } = await lyingNode(silent(path))
  const argv = [name, '--lovelace', '3000000', '--to', receiver, '--url', url]
  if (name === 'withdraw') argv.push('--wait')
  const shown = await run(argv)
  expect([shown.status, shown.out]).toEqual([1, ''])
  const lines = shown.error.trimEnd().split('\n')
  const [sent = ''] = hash.exec(lines[0] ?? '') ?? []
  expect(lines[0]).toBe(`Submitting ${sent}`)
  expect(lines.at(-1)).toContain(`GET ${path}: no answer from ${url}.`)
  expect(lines.at(-1)).toContain(`The transaction ${sent} was sent`)
  expect(lines.at(-1)).toMatch(advice)

  const json = await run([...argv, '--json'])
  const document = JSON.parse(json.out)
  expect(document).toMatchObject({ txHash: expect.stringMatching(hash), error: { code: 'CLIENT_NETWORK' } })
  expect(json.error.startsWith(`Submitting ${document.txHash}\n`)).toBe(true)
  if (path === '/withdrawals') expect(document.outref).toBe(`${document.txHash}#0`)
  else expect(document.transactions).toMatchObject([{ txHash: document.txHash, payments: 1 }])
})

test('a tool that loses the node names what it has submitted', async () => {
  const { url } = await lyingNode(silent('/submission'))
  const submit = tools.find(({ name }) => name === 'submit')
  const context = { client: createClient(url, { retries: 0 }), devnetUrl: undefined }
  const input = { transaction: '84a3008001800200a0f5f6', finality: 'accepted' }
  const error = await submit?.run(input, context).catch((failure: unknown) => failure)
  const { txHash } = (error as { value: { txHash: string } }).value
  expect(error).toMatchObject({
    code: 'CLIENT_NETWORK',
    message: expect.stringContaining(`The transaction ${txHash} was submitted: do not replace it`),
    value: { submissionId: 'x', txHash: expect.stringMatching(hash) },
  })
})

test('a withdrawal that is awaited ends with what has arrived, another with what will', async () => {
  const [id, kind, state] = ['ab'.repeat(32), 'transaction', 'paid'] as const
  const withdrawals = [{ outref: `${id}#0`, output: '80', kind, state, payoutTxHash: id }]
  const others: Lie['others'] = {
    '/bridge': [200, bridge],
    '/withdrawals': [200, { withdrawals, hasMore: false }],
  }
  const { url } = await lyingNode({ outputs: [1, 2, 3], others })
  const argv = ['withdraw', '--lovelace', '3000000', '--to', receiver, '--url', url]
  const sent = await run(argv)
  expect([sent.status, sent.out]).toEqual([
    0,
    expect.stringMatching(/\narrives {6}2\.7 ada on layer 1, once its block is merged\n$/),
  ])
  const paid = await run([...argv, '--wait'])
  expect([paid.status, paid.out, paid.error]).toEqual([
    0,
    expect.stringMatching(new RegExp(`fee of [\\d.]+ ada\\npaid {9}2\\.7 ada on layer 1, by ${id}\\n$`)),
    expect.stringContaining('Sent '),
  ])
})

const parameters = JSON.parse(
  readFileSync(new URL('../../../packages/devnet/parameters/devnet-11.json', import.meta.url), 'utf8'),
)

interface Lie {
  readonly fees?: object
  /** How many outputs of 2 ada the wallet has, by their names. */
  readonly outputs: readonly number[]
  /** The status and body of each answer to `POST /submit`. */
  readonly submitted?: readonly [number, object]
  readonly submission?: (count: number) => object
  /** The status and body of other paths; no answer to a path without. */
  readonly others?: Readonly<Record<string, readonly [number, object] | undefined>>
}

/** A node that answers what it likes. @returns its URL, and how many transactions it was given */
async function lyingNode({ fees, outputs, submitted = taken, submission = acceptance, others }: Lie) {
  const { address } = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })
  const value = { lovelace: 2_000_000n, assets: new Map() }
  const output = toHex(toOutput({ address: address.bytes, value, datum: { kind: 'none' } }).bytes)
  const utxos = outputs.map((name) => {
    const reference = { transactionId: new Uint8Array(32).fill(name), index: 0 }
    return { outref: toHex(encodeOutputReference(reference)), value: output }
  })
  const given = { url: '', count: 0 }
  const server = createServer(({ url = '', method }, response) => {
    const path = url.split('?')[0] ?? ''
    if (method === 'POST') given.count++
    const answers: Lie['others'] = {
      '/network': [200, networkWith(fees)],
      '/utxos': [200, { utxos }],
      '/submit': submitted,
      '/submission': [200, submission(given.count)],
      ...others,
    }
    const answer = Object.hasOwn(answers, path) ? answers[path] : notServed
    if (answer === undefined) return void response.destroy()
    const [status, body] = answer
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  given.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return given
}

const notServed = [404, { error: 'not served', code: 'NOT_SERVED' }] as const
const taken = [200, { message: 'Successfully added the transaction to the queue', id: 'x' }] as const
const acceptance = () => ({ id: 'x', status: 'mempool' })
const api = { accepted: 'x', committed: 'x', merged: 'x' }

const networkWith = (fees: object | undefined) => ({
  network: 'devnet',
  versions: { node: '0', protocol: 1 },
  networkId: 0,
  networkMagic: 42,
  slotClock: { zeroTime: 0, zeroSlot: 0, slotLength: 1000 },
  protocolParameters: { ...parameters, ...fees },
  maturityWindow: 0,
  apis: { blockfrost: api, kupo: api, ogmios: api },
})
