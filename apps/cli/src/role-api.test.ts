import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { readSettings, startNode } from '@ratatosk/node'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test, vi } from 'vitest'
import { anyPlace } from './test/any-place.js'
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

const remedy =
  '404 Not Found. This node does not serve it, by its NODE_ROLE or its SERVE_… settings: ' +
  'give the --url of a node of role "all" of the same ledger'

test('commands that a node of role api cannot serve say which node they need', async (context) => {
  const url = await apiNode(context)
  for (const [argv, request] of [
    [['load', '--rate', '1', '--seconds', '1'], 'GET /network'],
    [['demo'], 'GET /network'],
    [['dead-letters', 'list'], 'GET /deadLetters'],
    [['init'], 'GET /init'],
    [['merge'], 'GET /merge'],
  ] as const) {
    const environment = { OPERATOR_TOKEN: 'an operator' }
    const { status, error } = await run([...argv, '--url', url], environment)
    expect([status, error]).toEqual([1, `${request}: ${remedy}\n`])
    const json = await run([...argv, '--url', url, '--json'], environment)
    expect(json).toMatchObject({ status: 1, error: '' })
    expect(JSON.parse(json.out)).toEqual({ error: { code: 'DISABLED', message: `${request}: ${remedy}` } })
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
  expect(JSON.stringify(answer.structuredContent)).toContain('a node of role \\"all\\" of the same ledger')
})
