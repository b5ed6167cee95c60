import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { createClient } from '@ratatosk/client'
import { keysFromSigningKey } from '@ratatosk/ledger/builder'
import { until } from '@ratatosk/test-kit/http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openBuilder, outputsOf } from './layer2/layer2.js'
import {
  type AnyPlace,
  anyPlace,
  type StartedNode,
  startedNode,
  type TestLayer1,
  testLayer1,
} from './test/nodes.js'
import { run } from './test/run.js'

// A start takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let layer1: TestLayer1
let place: AnyPlace
let node: StartedNode
let stopped = false

beforeAll(async () => {
  layer1 = await testLayer1()
  const manual = { AUTO_COMMIT: 'false', AUTO_MERGE: 'false', MATURITY_WINDOW_MS: '0' }
  place = await anyPlace()
  node = await startedNode({ ...place.settings, ...layer1.settings, ...manual }, place.secrets)
  await until(async () => (await json('status')).value.stateQueue === 'ok', { what: 'it is initialised' })
})

afterAll(async () => {
  if (!stopped) await node?.stop()
  await layer1?.close()
  await place?.remove()
})

/** Runs a command with the node's URL and token. */
async function json(...argv: readonly string[]) {
  const { status, out } = await run([...argv, '--url', node.url, '--json'], {
    OPERATOR_TOKEN_FILE: node.tokenFile,
  })
  return { status, value: JSON.parse(out) }
}

test('status and wallet show the node', async () => {
  const { status, value } = await json('status')
  expect(status).toBe(0)
  expect(value).toMatchObject({ ready: true, failing: [], network: 'devnet', blocksInStateQueue: 0 })
  const balance = await json('wallet')
  expect(BigInt(balance.value.lovelaceBalance)).toBeGreaterThan(0n)
  const { port } = new URL(node.url)
  const text = await run(['status'], { PORT: port, HOST: '0.0.0.0' })
  expect(text.out).toMatch(
    /^ready\nrole {12}all\nnetwork {9}devnet, node .*\nstate queue {5}ok, addr_test1.*\n/,
  )
  expect((await run(['wallet'], { PORT: port })).out).toMatch(/^[\d,.]+ ada\n$/)
})

test('operators are listed with their bonds and turns', async () => {
  // Reads of layer 1 are shared for a while.
  const hasQueue = async () => (await json('operators')).value.takeOverAt !== undefined
  await until(hasQueue, { what: 'the node has read the state queue' })
  const { status, value } = await json('operators')
  expect(status).toBe(0)
  const [operator] = value.operators
  expect(value).toMatchObject({
    inTurn: operator.operatorKey,
    next: operator.operatorKey,
    permissioned: true,
  })
  const text = await run(['operators', '--url', node.url])
  const key = operator.operatorKey
  const turn = `^in turn {4}${key}, until .*Z\\nnext {7}${key}\\n`
  const takeOver = 'take-over {2}by any of them from .*Z, if no block comes\\n'
  expect(text.out).toMatch(new RegExp(`${turn}${takeOver}${key} {2}[\\d,]+ ada {2}from .*Z\\n$`))
})

test('operations answer as the node does', async () => {
  expect(await json('commit')).toEqual({
    status: 0,
    value: { message: 'Nothing to commit', transactions: 0 },
  })
  expect(await json('merge')).toEqual({ status: 0, value: { message: 'Nothing to merge' } })
  expect(await json('init')).toMatchObject({ status: 1, value: { error: { code: 'OPERATOR_ROOT_EXISTS' } } })
  expect(await json('repair')).toEqual({
    status: 0,
    value: { message: 'State-queue root-unit repair completed successfully!' },
  })
})

test('an operation without the token says how to give it', async () => {
  expect(await run(['commit', '--url', node.url])).toEqual({
    status: 1,
    out: '',
    error: expect.stringMatching(/401 .*OPERATOR_TOKEN_FILE, or --token-file, must hold the OPERATOR_TOKEN /),
  })
  const { status } = await run(['commit', '--url', node.url, '--token-file', node.tokenFile])
  expect(status).toBe(0)
  const missing = await run(['commit', '--url', node.url, '--token-file', '/nowhere'])
  expect(missing).toMatchObject({ status: 1, error: expect.stringContaining('"/nowhere"') })
})

test('dead letters are listed, shown, replayed and dropped', async () => {
  const client = createClient(node.url)
  expect((await json('dead-letters', 'list')).value).toEqual({ deadLetters: [] })
  const { id } = await client.submit('80')
  await until(async () => (await client.getSubmissionStatus({ id })).status === 'rejected', {
    what: 'the submission is rejected',
  })
  const { value } = await json('dead-letters', 'list')
  expect(value.deadLetters).toEqual([expect.objectContaining({ id, count: 1 })])
  expect((await json('dead-letters', 'show', id)).value).toMatchObject({ id, cbor: '80' })

  const replayed = await json('dead-letters', 'replay', id)
  expect(replayed.status).toBe(0)
  await until(
    async () => (await client.getSubmissionStatus({ id: replayed.value.id })).status === 'rejected',
    { what: 'the replay is rejected' },
  )
  const newest = (await json('dead-letters', 'list')).value.deadLetters[0].id
  expect(await json('dead-letters', 'drop', newest)).toEqual({ status: 0, value: { dropped: newest } })
  expect((await json('dead-letters', 'list')).value).toEqual({ deadLetters: [] })
  expect(await json('dead-letters', 'show', newest)).toMatchObject({
    status: 1,
    value: { error: { code: 'DEAD_LETTERS_NOT_FOUND' } },
  })
})

/** A client of `ratatosk mcp`, which runs as a process. Answers what tools answer, or their error. */
async function mcpClient() {
  const main = new URL('../dist/main.js', import.meta.url).pathname
  const client = new Client({ name: 'test', version: '1' })
  const options = ['--url', node.url, '--devnet-url', layer1.controlUrl]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...options] }),
  )
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const {
      structuredContent,
      content,
      isError = false,
    } = await client.callTool({ name, arguments: input }, undefined, { timeout: 120_000 })
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
    const value = structuredContent as Record<string, unknown>
    expect('error' in value).toBe(isError)
    return value
  }
  return { client, call }
}

test('an MCP client takes a payment from its funds to the confirmed state', async () => {
  const { client, call } = await mcpClient()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'info',
    'fund',
    'utxos',
    'decode',
    'evaluate',
    'submit',
    'status',
    'roll_back',
  ])
  expect(await call('info')).toMatchObject({ ready: true, network: 'devnet', networkId: 0 })

  const own = keysFromSigningKey('01'.repeat(32), { networkId: 0 })
  const friend = keysFromSigningKey('02'.repeat(32), { networkId: 0 }).addressText
  const funded = await call('fund', { address: own.addressText, lovelace: 50_000_000 })
  expect(funded).toMatchObject({ status: 'mempool', lovelace: '50000000' })
  const outref = `${funded.txHash}#0`
  expect(await call('utxos', { address: own.addressText })).toEqual({
    total: 1,
    utxos: [{ outref, address: own.addressText, lovelace: '50000000', cbor: expect.any(String) }],
  })

  const layer2 = createClient(node.url)
  const [utxo] = await outputsOf(layer2, own.addressText)
  const builder = await openBuilder(layer2)
  const { transaction, txHash } = await builder.pay({
    from: own,
    utxo: utxo!,
    to: friend,
    lovelace: 7_000_000n,
  })
  expect(await call('decode', { transaction })).toMatchObject({
    txHash,
    inputs: [outref],
    outputs: [{ address: friend, lovelace: '7000000' }, { address: own.addressText }],
  })
  expect(await call('evaluate', { transaction })).toMatchObject({ verdict: 'valid', failures: [] })
  expect(await call('submit', { transaction, finality: 'accepted' })).toMatchObject({
    txHash,
    status: 'mempool',
  })

  expect((await json('commit')).value).toMatchObject({ transactions: 2 })
  const committed = await call('status', { txHash, finality: 'committed' })
  expect(committed).toMatchObject({ block: { height: 1 } })
  await until(async () => (await json('merge')).value.txHash !== undefined, { what: 'the block is merged' })
  expect(await call('status', { txHash, finality: 'merged' })).toMatchObject({ status: 'merged' })

  const again = await builder.pay({ from: own, utxo: utxo!, to: friend, lovelace: 8_000_000n })
  expect(await call('submit', { transaction: again.transaction, finality: 'accepted' })).toMatchObject({
    error: { failures: [expect.objectContaining({ predicate: expect.any(String) })] },
  })
  const { height } = layer1.devnet.tip()
  const { tip } = await call('roll_back', { blocks: 1 })
  expect((tip as { height: number }).height).toBeGreaterThanOrEqual(height - 1)
  await client.close()
})

test('load pays at a rate and reports what came of it', async () => {
  const { status, value } = await json('load', '--rate', '20', '--seconds', '2')
  expect(value).toMatchObject({ rejected: {}, failed: {}, pending: 0 })
  expect(value.submitted + value.late).toBe(40)
  expect(value.accepted).toBe(value.submitted)
  expect(value.acceptedMs.p50).toBeGreaterThanOrEqual(value.answerMs.p50)
  expect(status).toBe(value.late === 0 ? 0 : 1)
  const text = await run(['load', '--seconds', '1', '--rate', '5', '--url', node.url])
  expect(text.out).toMatch(
    /^submitted {2}\d.*\naccepted {3}\d.*\nrejected {3}0\nfailed {5}0\nanswer {5}p50 \d/,
  )
  const wrong = await run(['load', '--rate', '0', '--url', node.url])
  expect(wrong).toMatchObject({ status: 2, error: expect.stringContaining('--rate is "0"') })
})

test('an MCP client learns what is wrong', async () => {
  const { client, call } = await mcpClient()
  for (const [name, input, message] of [
    ['utxos', {}, 'address: '],
    ['utxos', { address: 'a' }, 'GET /utxos: 400'],
    ['fund', { address: 'a', lovelace: 5 }, 'lovelace: Expected 1000000 to 1000000000'],
    ['status', { txHash: '00'.repeat(32), finality: 'x' }, 'Expected one of accepted, committed, mature'],
    ['fund', { address: 'addr_test1misspelt' }, 'address must be a bech32 payment address'],
    ['decode', { transaction: 'xyz' }, 'transaction: Expected hex of a signed transaction'],
    ['utxos', { adress: 'a' }, 'There is no field adress: the fields are address'],
    ['info', { url: 'a' }, 'There is no field url: there are none'],
    ['decode', { transaction: '80' }, 'Not a transaction: '],
    ['status', { txHash: '00'.repeat(32), finality: 'accepted', timeoutSeconds: 1 }, 'within 1000 ms'],
    ['roll_back', { blocks: 2000 }, 'The devnet answered 4'],
  ] as const) {
    expect(await call(name, input)).toEqual({
      error: expect.objectContaining({ message: expect.stringContaining(message) }),
    })
  }
  await expect(client.callTool({ name: 'transfer', arguments: {} })).rejects.toMatchObject({
    code: -32602,
    message: 'MCP error -32602: There is no tool transfer: tools/list lists them',
  })
  await client.close()
})

test('the node closes on SIGTERM, and status then ends with 1', async () => {
  stopped = true
  expect(await node.stop()).toBe(0)
  expect(await run(['status', '--url', node.url])).toMatchObject({
    status: 1,
    out: '',
    error: expect.stringContaining(
      `: no answer from ${node.url}. Check that the node runs and its URL is right (--url; without it, HOST`,
    ),
  })
})
