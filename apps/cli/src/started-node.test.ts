import { createClient } from '@ratatosk/client'
import { until } from '@ratatosk/test-kit/http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { run } from './test/run.js'
import { type StartedNode, startedNode } from './test/started-node.js'

// A first start creates a database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let node: StartedNode
let stopped = false

beforeAll(async () => {
  node = await startedNode({ AUTO_COMMIT: 'false', AUTO_MERGE: 'false', MATURITY_WINDOW_MS: '0' })
  await until(async () => (await json('status')).value.stateQueue === 'ok', { what: 'it is initialised' })
})

afterAll(async () => {
  if (!stopped) await node?.stop()
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
  expect(text.out).toMatch(/^ready\nnetwork {9}devnet, node .*\nstate queue {5}ok, addr_test1.*\n/)
  expect((await run(['wallet'], { PORT: port })).out).toMatch(/^[\d,.]+ ada\n$/)
})

test('operations answer as the node does', async () => {
  expect(await json('commit')).toEqual({
    status: 0,
    value: { message: 'Nothing to commit', transactions: 0 },
  })
  expect(await json('merge')).toEqual({ status: 0, value: { message: 'Nothing to merge' } })
  expect(await json('init')).toMatchObject({ status: 1, value: { error: { code: 'HTTP_409' } } })
  expect(await json('repair')).toEqual({
    status: 0,
    value: { message: 'State-queue root-unit repair completed successfully!' },
  })
})

test('an operation without the token says how to give it', async () => {
  expect(await run(['commit', '--url', node.url])).toEqual({
    status: 1,
    out: '',
    error: expect.stringMatching(/401 .*Set OPERATOR_TOKEN_FILE, or use --token-file\n$/),
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
    value: { error: { code: 'HTTP_404' } },
  })
})

test('the node closes on SIGTERM, and status then ends with 1', async () => {
  stopped = true
  expect(await node.stop()).toBe(0)
  expect(await run(['status', '--url', node.url])).toMatchObject({
    status: 1,
    out: '',
    error: expect.stringContaining('Check that the node runs and its URL is right'),
  })
})
