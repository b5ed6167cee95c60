import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { readSettings, startNode } from '@ratatosk/node'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test, vi } from 'vitest'
import { anyPlace } from './test/nodes.js'
import { run } from './test/run.js'

vi.setConfig({ testTimeout: 300_000 })

/** The URL of a node that serves the public endpoints alone. */
async function apiNode(context: TestContext): Promise<string> {
  await needServices(context)
  const { settings, secrets, remove } = await anyPlace()
  context.onTestFinished(remove)
  const node = await startNode(
    readSettings({ ...settings, ...secrets, NODE_ROLE: 'api', PORT: '0', LOG_LEVEL: 'silent' }),
  )
  context.onTestFinished(() => node.close())
  return node.url
}

const remedyOf = (roles: string) =>
  "404 Not Found. This node's role does not serve it, or its SERVE_… settings leave it out: " +
  `give the --url of a node of role ${roles} of the same ledger`
const [readers, operators] = ['"all" or "reader"', '"all" or "sequencer"']

test('commands that a node of role api cannot serve say which node they need', async (context) => {
  const url = await apiNode(context)
  for (const [argv, request, roles] of [
    [['load', '--rate', '1', '--seconds', '1'], 'GET /network', readers],
    [['demo'], 'GET /network', readers],
    [['dead-letters', 'list'], 'GET /deadLetters', operators],
    [['dead-letters', 'show', '1'], 'GET /deadLetters/{id}', operators],
    [['merge'], 'GET /merge', operators],
  ] as const) {
    const remedy = remedyOf(roles)
    const environment = { OPERATOR_TOKEN: 'an-operator' }
    const { status, error } = await run([...argv, '--url', url], environment)
    expect([status, error]).toEqual([1, `${request}: ${remedy}\n`])
    const json = await run([...argv, '--url', url, '--json'], environment)
    expect(json).toMatchObject({ status: 1, error: '' })
    expect(JSON.parse(json.out)).toEqual({ error: { code: 'DISABLED', message: `${request}: ${remedy}` } })
  }
})

test('status says what it can of a node of any role', async (context) => {
  await needServices(context)
  const { settings, secrets, remove } = await anyPlace()
  context.onTestFinished(remove)
  for (const [NODE_ROLE, expected] of [
    ['api', /^ready\nrole {12}api\nnetwork {9}devnet, node/],
    ['tx-processor', /^ready\nrole {12}tx-processor\nnetwork {9}devnet, node \d/],
    ['sequencer', /^ready\nrole {12}sequencer\nnetwork {9}devnet, node \d/],
  ] as const) {
    const { FAUCET_TOKEN: _, ...own } = secrets
    const node = await startNode(
      readSettings({ ...settings, ...own, NODE_ROLE, PORT: '0', LOG_LEVEL: 'silent' }),
    )
    context.onTestFinished(() => node.close())
    expect((await run(['status', '--url', node.url])).out.replace(/^not ready.*/, 'ready')).toMatch(expected)
  }
})

test('a tool that a node of role api cannot serve says which node it needs', async (context) => {
  const url = await apiNode(context)
  const main = new URL('../dist/main.js', import.meta.url).pathname
  const client = new Client({ name: 'a test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', '--url', url] }),
  )
  context.onTestFinished(() => client.close())
  const answer = await client.callTool({ name: 'info', arguments: {} })
  expect(answer).toMatchObject({ isError: true, structuredContent: { error: { code: 'DISABLED' } } })
  expect(JSON.stringify(answer.structuredContent)).toContain(
    'a node of role \\"all\\" or \\"reader\\" of the same ledger',
  )
})
