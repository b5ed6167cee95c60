import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase, keysFromSigningKey } from '@ratatosk/ledger/builder'
import { readSettings, startNode } from '@ratatosk/node'
import { freePort } from '@ratatosk/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { checkDeposit } from './bridge/check-draft.js'
import { devnetOutputs } from './bridge/layer1-outputs.js'
import { anyPlace } from './test/nodes.js'
import { run } from './test/run.js'

const depositor = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })
const receiver = keysFromSigningKey('0a'.repeat(32), { networkId: 0 })
const hash = /^[0-9a-f]{64}$/

const quick = {
  MATURITY_WINDOW_MS: '3000',
  MERGE_INTERVAL_MS: '500',
  BLOCK_VALIDITY_MS: '5000',
  EVENT_WAIT_MS: '10000',
  MAX_EVENT_LOOP_DELAY_MS: '0',
  PORT: '0',
  LOG_LEVEL: 'silent',
}

async function startedBridge(own: Readonly<Record<string, string>> = {}): Promise<string> {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  const node = await startNode(readSettings({ ...quick, ...settings, ...secrets, ...own }))
  onTestFinished(() => node.close())
  return node.url
}

const asked = async (...argv: string[]) => {
  const { status, out, error } = await run([...argv, '--json'])
  return { status, value: out === '' ? error : JSON.parse(out), error }
}

/** A way to a node on which the answers of a path are lost. */
async function wayWithout(lost: string, url: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { 'content-type': type = 'text/plain' } = request.headers
    const method = request.method ?? ''
    const init = { method, headers: { 'content-type': type } }
    const sent = method === 'POST' ? { ...init, body: await text(request) } : init
    const answer = await fetch(`${url}${request.url}`, sent)
    if (request.url?.startsWith(lost)) return void response.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('ada come from layer 1, and return', { timeout: 300_000 }, async () => {
  const devnetPort = String(await freePort())
  const url = await startedBridge({ DEVNET_PORT: devnetPort })
  const own = ['--url', url]
  const outputs = devnetOutputs(
    { url, timeout: '30' },
    { environment: {}, write: () => 0, writeError: () => 0 },
  )
  // The node may not have initialised the rollup yet.
  const ready = () => run(['status', ...own])
  await expect.poll(async () => (await ready()).out).toContain('state queue     ok')
  const shown = await run(['bridge', ...own])
  expect(shown).toMatchObject({ status: 0 })
  expect(shown.out).toMatch(/^address +addr_test1w\S+\ntakes +ada\ndeposits +are credited 10 s after/)
  await checksDrafts(url)

  const to = depositor.addressText
  const deposit = ['deposit', '--to', to, '--wait', '--lovelace']
  for (const [path, sent] of [
    ['/deposits', 'was sent'],
    ['/bridge/submit', 'may have been sent'],
  ] as const) {
    const lost = await asked(...deposit, '20000000', '--url', await wayWithout(path, url))
    const { id, txHash } = lost.value
    const message = `The transaction ${txHash} ${sent} to layer 1: do not deposit again`
    expect(lost).toMatchObject({
      status: 1,
      value: { id: expect.stringMatching(hash), error: { message: expect.stringContaining(message) } },
      error: expect.stringContaining(`Submitting ${txHash}, the deposit ${id}\n`),
    })
    await expect.poll(async () => (await createClient(url).listDeposits({ id })).deposits).toHaveLength(1)
  }
  const deposited = await asked(...deposit, '60000000', ...own)
  expect(deposited).toMatchObject({ status: 0, value: { id: expect.stringMatching(hash) } })
  const { id, outref } = deposited.value
  expect(outref).toBe(`${id}#0`)

  const withdraw = ['withdraw', '--lovelace', '60000000', '--to', receiver.addressText]
  const withdrawn = await asked(...withdraw, '--wait', ...own)
  expect(withdrawn).toMatchObject({ status: 0, value: { state: 'paid', arrives: '59700000' } })
  const [paid] = await outputs(receiver.addressText)
  expect(paid?.utxo.output.value.lovelace).toBe(59_700_000n)
  expect(await asked('payout', ...own)).toMatchObject({
    status: 1,
    value: { error: { message: expect.stringContaining('Nothing is owed') } },
  })
  const after = await asked('bridge', ...own)
  expect(after.value).toMatchObject({ treasury: { owed: '0', backed: true }, settlements: [] })
  await auditsTreasury(url, devnetPort)

  const tiny = (lovelace: string) =>
    asked('withdraw', '--lovelace', lovelace, '--to', receiver.addressText, ...own)
  const little = await tiny('1')
  expect(little).toMatchObject({ status: 1, value: { error: { code: 'CLI_TOO_LITTLE' } } })
  const [, least = ''] = /at least (\d+) lovelace/.exec(little.value.error.message) ?? []
  expect((await tiny(String(BigInt(least) - 1n))).value.error.message).toContain(`at least ${least} lovelace`)
  expect(await tiny(least)).toMatchObject({ status: 0 })

  const { address } = after.value
  expect(await asked('withdraw', '--lovelace', '5000000', '--to', address, ...own)).toMatchObject({
    status: 2,
    value: { error: { code: 'CLI_TO_BRIDGE' } },
  })
  expect(await asked(...withdraw, '--bridge', to, ...own)).toMatchObject({
    status: 1,
    value: { error: { code: 'CLI_OTHER_BRIDGE' } },
  })
  const unlisted = ['--asset', `${'ab'.repeat(28)}=1`]
  for (const command of ['deposit', 'withdraw'])
    expect(await asked(command, '--lovelace', '5000000', '--to', to, ...unlisted, ...own)).toMatchObject({
      status: 1,
      value: { error: { code: 'CLI_NOT_BRIDGED', message: expect.stringContaining('ab'.repeat(28)) } },
    })
  const empty = ['--account', '999']
  expect(await asked('deposit', '--lovelace', '5000000', '--to', to, ...empty, ...own)).toMatchObject({
    status: 1,
    value: { error: { code: 'CLI_NO_FUNDS', message: expect.stringContaining('pay to it there') } },
  })
})

async function auditsTreasury(url: string, devnetPort: string): Promise<void> {
  const environment = {
    ...quick,
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: `http://127.0.0.1:${devnetPort}/blockfrost/api/v0`,
  }
  const argv = ['audit', '--archivist', `${url}/archivist`]
  const { status, out } = await run([...argv, '--json'], environment)
  const { treasury, verdict, lovelace } = JSON.parse(out)
  expect({ status, verdict }, out).toEqual({ status: 0, verdict: 'clean' })
  expect(lovelace).toMatchObject({ deposited: '100000000', withdrawn: '60000000' })
  expect(treasury).toMatchObject({ claims: '40000000', owed: '0', waiting: '0', waitingDeposits: 0 })
  // Reserves back the genesis of a devnet, or none of it.
  const more = String(BigInt(treasury.held) - 40_000_000n + 1n)
  const short = await run([...argv, '--backed', more], environment)
  expect(short.status).toBe(1)
  expect(short.out).toMatch(
    /FOUND {2}treasury: The treasury holds less than layer 2 has a claim on at the newest/,
  )
  expect(await run([...argv, '--backed', 'all'], environment)).toMatchObject({ status: 2 })
  // The contracts of another bridge.
  const others = { ...environment, BRIDGED_POLICIES: 'ab'.repeat(28) }
  const verified = await run(['verify', '1', '--archivist', `${url}/archivist`], others)
  expect([verified.status, verified.error]).toEqual([3, expect.stringContaining('has no state queue for')])
}

/** A draft of a node is compared with what was asked. */
async function checksDrafts(url: string): Promise<void> {
  const client = createClient(url)
  const bridge = await client.getBridge()
  const shell = { environment: {}, write: () => undefined, writeError: () => undefined }
  const outputs = await devnetOutputs({ url, timeout: '30' }, shell)(depositor.addressText)
  const draft = await client.draftBridgeTransaction({
    kind: 'deposit',
    utxos: outputs.map(({ pair }) => pair),
    changeAddress: depositor.addressText,
    to: receiver.addressText,
    lovelace: '7000000',
  })
  const funds = outputs.map(({ utxo }) => utxo)
  const right = {
    to: receiver.address.bytes,
    lovelace: 7_000_000n,
    assets: new Map(),
    funds,
    changeAddress: depositor.address.bytes,
  }
  expect(toHex(checkDeposit(draft, right, bridge).transaction.id)).toBe(draft.txHash)
  const token = new Map([['ab'.repeat(28), new Map([['', 1n]])]])
  for (const [what, changes, terms, other] of [
    ['for another address', { to: depositor.address.bytes }],
    ['it deposits 7000000 lovelace', { lovelace: 7_000_001n }],
    ['other tokens', { assets: token }],
    ['was not offered', { funds: [] }],
    ['goes elsewhere', { changeAddress: receiver.address.bytes }],
    ['not at the bridge', {}, { address: depositor.addressText }],
    ['mints something else', {}, { policies: { ...bridge.policies, events: 'ab'.repeat(28) } }],
    ['credited too late', {}, { eventWaitMs: -3_700_000 }],
    ['another hash', {}, {}, { txHash: 'ab'.repeat(32) }],
    ['another id', {}, {}, { id: 'ab'.repeat(32) }],
    ['at another time', {}, {}, { creditedFrom: new Date(0).toISOString() }],
    ['no transaction', {}, {}, { transaction: '80' }],
  ] as const) {
    const check = () =>
      checkDeposit({ ...draft, ...other }, { ...right, ...changes }, { ...bridge, ...terms })
    expect(check, what).toThrow(
      new RegExp(`^The draft of the node is not what was asked: .*${what}.*Nothing was signed`),
    )
  }
}

test('a node without a bridge says so, and wrong options start nothing', { timeout: 120_000 }, async () => {
  const url = await startedBridge({ BRIDGE: 'false', AUTO_INIT: 'false' })
  for (const argv of [
    ['bridge'],
    ['deposit', '--lovelace', '1', '--to', receiver.addressText],
    ['withdraw', '--lovelace', '1', '--to', receiver.addressText],
    ['payout'],
  ])
    expect(await asked(...argv, '--url', url), argv[0]).toMatchObject({
      status: 1,
      value: { error: { message: expect.stringContaining('This deployment has no bridge') } },
    })
  const right = { lovelace: '1', to: receiver.addressText }
  for (const [options, error] of [
    [{ lovelace: '0' }, /--lovelace is "0"/],
    [{ lovelace: '1.5' }, /--lovelace is "1.5"/],
    [{ to: 'addr1nonsense' }, /--to must be a bech32 payment address of a test network/],
    [{ to: 'stake_test1uqfu74w3wh4gfzu8m6e7j987h4lq9r3t7ef5gaw497uu85qsqfy27' }, /--to must be/],
    [{ asset: 'ada=1' }, /--asset is "ada=1"/],
    [{ account: '-1' }, /--account is "-1"/],
  ] as const) {
    const argv = Object.entries({ ...right, ...options }).map(([name, value]) => `--${name}=${value}`)
    for (const command of ['deposit', 'withdraw'])
      expect(await run([command, ...argv]), argv.join(' ')).toMatchObject({
        status: 2,
        error: expect.stringMatching(error),
      })
  }
  const missing = await run(['deposit', '--seed-file', '/nowhere', '--lovelace=1', `--to=${right.to}`])
  expect(missing).toMatchObject({ status: 1, error: expect.stringContaining('"/nowhere" for --seed-file') })
})
