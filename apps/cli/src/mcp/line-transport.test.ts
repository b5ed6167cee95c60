import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { createClient } from '@ratatosk/client'
import { faultOf } from '@ratatosk/client/answers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LineTransport } from './line-transport.js'
import { mcpServer } from './server.js'

// Loading the server takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

interface Answer {
  readonly id?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: { error?: { code: string } } }
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server whose input ends behind the lines. Answers what it wrote, and what it told. */
async function said(lines: readonly (string | Buffer)[], url = 'http://127.0.0.1:1') {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const client = createClient(url, { retries: 0, checkAnswer: faultOf })
  const server = mcpServer({ client, devnetUrl: `${url}/devnet` })
  const told: string[] = []
  server.onerror = ({ message }) => told.push(message)
  const transport = new LineTransport(input, output)
  await server.connect(transport)
  let text = ''
  output.on('data', (piece) => {
    text += piece
  })
  for (const line of lines) input.write(line)
  input.end()
  await transport.ended
  await server.close()
  const answers: readonly Answer[] = text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  return { answers, told }
}

const message = (id: number, method: string, params?: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}\n`
const call = (id: number, name: string, input: object = {}) =>
  message(id, 'tools/call', { name, arguments: input })
const initialize = message(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})

test.each([
  ['not json', -32700, null],
  ['{"jsonrpc":"2.0","id":3,', -32700, null],
  ['null', -32600, null],
  ['5', -32600, null],
  ['[]', -32600, null],
  ['[{"jsonrpc":"2.0","id":3,"method":"ping"}]', -32600, null],
  ['{"id":3,"method":"ping"}', -32600, 3],
  ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":3,"method":"tools/call","params":["info"]}', -32602, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"tools/call"}', -32602, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"info","arguments":"x"}}', -32602, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}', -32602, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"constructor"}', -32601, 3],
])('%s is answered with %d', async (line, code, id) => {
  const { answers } = await said([initialize, `${line}\n`, message(9, 'ping')])
  expect(answers.find(({ error }) => error !== undefined)).toMatchObject({ id, error: { code } })
  expect(answers.find((answer) => answer.id === 9)).toMatchObject({ result: {} })
})

test('empty lines, notifications and answers get no answer, and a last line needs no end', async () => {
  const { answers } = await said([
    initialize,
    '\n \r\n',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    '{"jsonrpc":"2.0","id":99,"result":{}}\r\n',
    message(9, 'ping').trimEnd(),
  ])
  expect(answers.map(({ id }) => id)).toEqual([1, 9])
})

test('a message that is too long is refused and named, and the next one is answered', async () => {
  const piece = Buffer.alloc(1 << 20, 'x')
  const { answers, told } = await said([
    initialize,
    '{"jsonrpc":"2.0","id":3,"method":"ping","params":{"pad":"',
    ...Array.from({ length: 11 }, () => piece),
    '"}}\n',
    message(9, 'ping'),
  ])
  expect(answers.map(({ id }) => id)).toEqual(expect.arrayContaining([1, null, 9]))
  expect(answers.find(({ id }) => id === null)).toMatchObject({
    error: { code: -32600, message: 'The message has more than 10485760 bytes' },
  })
  expect(told).toEqual(['The message has more than 10485760 bytes'])
})

test('calls that are in progress at the end of the input are answered', async () => {
  const waiting: (() => void)[] = []
  const url = await serve((_, response) => {
    waiting.push(() => response.writeHead(400).end('{"error":"late"}'))
    if (waiting.length === 2) for (const answer of waiting) setImmediate(answer)
  })
  const { answers } = await said(
    [initialize, call(3, 'info'), call(4, 'evaluate', { transaction: '80' })],
    url,
  )
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 3, 4])
})

test('a call that is cancelled is not waited for', async () => {
  const url = await serve(() => undefined)
  const cancelled = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}\n'
  const { answers } = await said([initialize, call(3, 'info'), cancelled], url)
  expect(answers.map(({ id }) => id)).toEqual([1])
})

const network = {
  network: 'devnet',
  networkId: 0,
  networkMagic: 42,
  slotClock: { zeroTime: 0, zeroSlot: 0, slotLength: 1 },
  protocolParameters: {},
  maturityWindow: 0,
  versions: { node: '1', protocol: 1 },
  apis: Object.fromEntries(
    ['blockfrost', 'kupo', 'ogmios'].map((name) => [name, { accepted: '', committed: '', merged: '' }]),
  ),
}

test.each([
  ['null', null],
  ['a list', []],
  ['texts', { status: 1, utxos: 'x', network: {}, verdict: [] }],
  ['what cannot be read', { ...network, status: 'ready', utxos: [{ outref: 'zz', value: '' }] }],
])('tools say of an answer that is %s that it is the answer, in their own words', async (_, answer) => {
  const url = await serve((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  )
  const hash = 'ab'.repeat(32)
  const { answers, told } = await said(
    [
      initialize,
      call(3, 'info'),
      call(4, 'utxos', { address: 'addr_test1' }),
      call(5, 'status', { txHash: hash }),
      call(6, 'evaluate', { transaction: '80' }),
      call(7, 'fund', { address: 'addr_test1' }),
    ],
    url,
  )
  expect(answers).toHaveLength(6)
  for (const { id, result } of answers.slice(1))
    expect([id, result?.isError, result?.structuredContent?.error?.code]).toEqual([
      id,
      true,
      expect.stringMatching(/^(?:CLIENT_INVALID_ANSWER|CLI_ANSWER)$/),
    ])
  expect(JSON.stringify(answers)).not.toMatch(/cannot read prop|undefined|is not a function|not iterable/i)
  expect(told).toEqual([])
})
