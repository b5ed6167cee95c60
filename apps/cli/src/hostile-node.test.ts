import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { run } from './test/run.js'

// Loading the commands takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

/** Clears the screen, sets the title, and writes from right to left; the control characters of 8 bits too. */
const sequences = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\u{e0041}'
const forged = 'block 1 (aa) valid: forged'
const text = `x\n${forged}\r\n${forged}\u2028${sequences}`

const answers: Readonly<Record<string, unknown>> = {
  '/health/ready': { status: 'ready' },
  '/network': { network: text, versions: { node: text }, networkId: 0, networkMagic: 42 },
  '/stateQueue': { headers: [text] },
  '/stateQueue/root-unit-diagnostics': { status: text, stateQueueAddress: text },
  '/commitment-wallet/balance': { lovelaceBalance: '1' },
  '/operators': {
    inTurn: text,
    next: text,
    turnEndsAt: text,
    operators: [{ operatorKey: text, bond: '5', activeFrom: text, activeUntil: text }],
  },
  '/verdicts': {
    verdicts: [{ headerHash: text, height: 1, state: text, fraud: text, reason: text, transactions: [] }],
    hasMore: true,
  },
  '/deadLetters': {
    deadLetters: [{ id: text, rejectedAt: text, code: text, reason: text, count: 1 }],
    before: text,
  },
  '/deadLetters/x': { id: text, failures: [{ predicate: text, message: text }] },
}

async function hostileNode(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const path = url.split('?')[0] ?? ''
    if (path.startsWith('/endless')) return sendEndlessly(response)
    const known = Object.hasOwn(answers, path)
    response.writeHead(known ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(known ? answers[path] : { error: text, code: text }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function sendEndlessly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = `"${'x'.repeat(1 << 16)}`
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

test.each([
  [['status'], 5],
  [['operators'], 3],
  [['verdicts'], 2],
  [['dead-letters', 'list'], 2],
  [['dead-letters', 'show', 'x'], 9],
  [['dead-letters', 'show', 'unknown'], 1],
  [['commit'], 1],
])('a node that forges the answer of %j begins no line and commands no terminal', async (argv, most) => {
  const url = await hostileNode()
  const { out, error } = await run([...argv, '--url', url])
  const shown = `${out}${error}`
  expect(shown).toContain('\\u009b31m\\u202egnp\\udb40\\udc41')
  expect(shown).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  expect(shown.split('\n').filter((line) => line.startsWith(forged))).toEqual([])
  expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(most)

  const json = await run([...argv, '--url', url, '--json'])
  expect(json.out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  // What is escaped is read as it was sent.
  expect(JSON.stringify(JSON.parse(json.out))).toMatch(/gnp/)
})

test('an answer without an end is given up', async () => {
  const url = `${await hostileNode()}/endless`
  const { status, error } = await run(['operators', '--url', url, '--timeout', '60'])
  expect([status, error]).toEqual([1, expect.stringContaining('the answer has more than 16777216 bytes')])
})
