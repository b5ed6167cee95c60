import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lovelaceIn, outputsOf } from './layer2/layer2.js'
import { anyPlace } from './test/any-place.js'
import { run } from './test/run.js'
import { receiver, withNode } from './test/store-node.js'

vi.setConfig({ testTimeout: 240_000 })

const addressOf = (account: number) =>
  keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account }).addressText

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

test('pays from 200 small outputs, and 150 people at once, and says in how many transactions', async () => {
  const { environment, file } = await place()
  await withNode(environment, async (url) => {
    const client = createClient(url)
    const has = async (address: string) => lovelaceIn(await outputsOf(client, address))
    const asked = async (...argv: string[]) => {
      const { status, out, error } = await run(['pay', ...argv, '--url', url, '--json'])
      expect({ status, error }, out).toEqual({ status: 0, error: '' })
      const { transactions, reasons } = JSON.parse(out)
      return { transactions, broken: reasons.map((each: { predicate: string }) => each.predicate) }
    }

    const people = Array.from({ length: 150 }, (_, n) => person(n))
    await writeFile(file('people'), linesFor(people, 1_500_000))
    const { status, out } = await run(['pay', '--file', file('people'), '--url', url])
    expect(status, out).toBe(0)
    expect(out).toMatch(
      /\n150 payments in 4 transactions, for fees of .* ada\nOne transaction was not enough:\n/,
    )
    expect(out).toContain('TooManyOutputs: The transaction has 151 outputs, at most 60 are supported')
    expect(await Promise.all(people.map(has))).toEqual(people.map(() => 1_500_000n))

    const many = addressOf(60)
    await writeFile(file('many'), linesFor(Array<string>(200).fill(many), 2_000_000))
    expect((await asked('--file', file('many'))).transactions).toHaveLength(5)
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
