import { createClient } from '@ratatosk/client'
import { keysFromSigningKey } from '@ratatosk/ledger/builder'
import { expect, test } from 'vitest'
import { tools } from './mcp/tools.js'
import { type Lie, lyingNode } from './test/lying-node.js'
import { run } from './test/run.js'
import { receiver } from './test/store-node.js'

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
