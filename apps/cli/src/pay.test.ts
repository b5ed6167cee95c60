import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lovelaceIn, outputsOf } from './layer2/layer2.js'
import { anyPlace } from './test/any-place.js'
import { acceptance, type Lie, lyingNode } from './test/lying-node.js'
import { run } from './test/run.js'
import { receiver, withNode } from './test/store-node.js'

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
      /\n250 payments in 3 transactions, for fees of .* ada\nOne transaction was not enough:\n/,
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
    [`${right} ${'ab'.repeat(28)}=1 more\n`, /^Line 1 .* more than three parts/],
    [`${receiver}\n`, /^Line 1 .*Name --to and --lovelace/],
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
    /^The wallet lacks 3000000 lovelace\. Its address is addr_test1\w+: pay to it with [^\n]+\n$/,
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
