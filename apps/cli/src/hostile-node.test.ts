import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { submitAll } from './layer2/submit-all.js'
import { run } from './test/run.js'

// Loading the commands takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

/** Clears the screen, sets the title, and writes from right to left; the control characters of 8 bits too. */
const sequences = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\u{e0041}'
const forged = 'block 1 (aa) valid: forged'
const text = `x\n${forged}\r\n${forged}\u2028${sequences}`

const key = 'ab'.repeat(28)
const api = { accepted: text, committed: text, merged: text }
const letter = { digest: text, attempts: 1, count: 1, submittedAt: text, rejectedAt: text, code: text }

/** Answers of the right shape, with texts of a stranger. */
const answers: Readonly<Record<string, unknown>> = {
  '/health/ready': { status: 'ready' },
  '/network': {
    network: text,
    versions: { node: text, protocol: 1 },
    networkId: 0,
    networkMagic: 42,
    slotClock: { zeroTime: 0, zeroSlot: 0, slotLength: 1000 },
    protocolParameters: {},
    maturityWindow: 0,
    apis: { blockfrost: api, kupo: api, ogmios: api },
  },
  '/stateQueue': { headers: [key] },
  '/stateQueue/root-unit-diagnostics': {
    status: 'ok',
    resetInProgress: false,
    stateQueueAddress: text,
    rootUnit: text,
    count: 1,
    outRefs: [],
  },
  '/commitment-wallet/balance': { lovelaceBalance: '1' },
  '/operators': {
    turnEndsAt: text,
    turnLength: 1,
    operators: [{ operatorKey: key, bond: '5', activeFrom: text, activeUntil: text }],
    maxOperators: 1,
    permissioned: true,
  },
  '/verdicts': {
    verdicts: [
      {
        headerHash: key,
        height: 1,
        operatorKey: key,
        state: 'invalid',
        fraud: text,
        reason: text,
        transactions: [],
        foundAt: text,
      },
    ],
    hasMore: true,
  },
  '/deadLetters': { deadLetters: [{ ...letter, id: text, reason: text }], before: text },
  '/deadLetters/x': { ...letter, id: text, reason: text, details: [{ predicate: text, message: text }] },
}

/** Answers of another shape, by the path in front of the URL. */
const others: Readonly<Record<string, string>> = {
  null: 'null',
  list: '[]',
  object: '{}',
  number: '7',
  nested: '['.repeat(1_000_000),
  digits: JSON.stringify({ lovelaceBalance: '9'.repeat(1_000_000) }),
  texts: JSON.stringify({
    status: text,
    lovelaceBalance: text,
    operators: [{ operatorKey: text, bond: text, activeFrom: text }],
    verdicts: [{ headerHash: text, transactions: [{ fee: text }] }],
    deadLetters: text,
    message: { text },
    id: [text],
  }),
}

async function hostileNode(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const path = url.split('?')[0] ?? ''
    if (path.startsWith('/endless')) return sendEndlessly(response)
    const [, first = '', status] = /^\/([a-z]+)(-503)?\//.exec(path) ?? []
    const other = Object.hasOwn(others, first) ? others[first] : undefined
    if (other !== undefined) {
      response.writeHead(status ? 503 : 200, { 'content-type': 'application/json' })
      return void response.end(other)
    }
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
  [['dead-letters', 'show', 'x'], 16],
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
  // Escaped text is read as it was sent.
  expect(JSON.stringify(JSON.parse(json.out))).toMatch(/gnp/)
})

test('an answer without an end is given up', async () => {
  const url = `${await hostileNode()}/endless`
  const { status, error } = await run(['operators', '--url', url, '--timeout', '60'])
  expect([status, error]).toEqual([1, expect.stringContaining('the answer has more than 16777216 bytes')])
})

const commands = [
  ['status'],
  ['operators'],
  ['verdicts'],
  ['wallet'],
  ['commit'],
  ['dead-letters', 'list'],
  ['dead-letters', 'show', 'x'],
  ['dead-letters', 'replay', 'x'],
  ['load', '--seconds', '1'],
]

test.each(Object.keys(others))('an answer of another shape, %s, is one escaped line', async (name) => {
  const url = await hostileNode()
  for (const place of [`${url}/${name}`, `${url}/${name}-503`])
    for (const argv of commands) {
      const { status, out, error } = await run([...argv, '--url', place])
      expect([argv, status, out]).toEqual([argv, 1, ''])
      expect(error).toMatch(/^(?:GET|POST) \/[^\n]*\n$/)
      expect(error).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|forged|undefined/u)
      const json = await run([...argv, '--url', place, '--json'])
      expect(JSON.parse(json.out).error.code).toMatch(/^CLIENT_INVALID_ANSWER$|^HTTP_503$/)
    }
})

test('submit says why it repeats a request, and stops at an answer of another shape', async () => {
  const url = await hostileNode()
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'transactions')
  await writeFile(file, '84a0\n')
  const { status, out } = await run(['submit', file, '--url', `${url}/texts`])
  expect(status).toBe(1)
  expect(out).toMatch(/^stopped: CLIENT_INVALID_ANSWER: POST \/submit: the answer\.\S+ is not/m)
  const told: string[] = []
  const client = createClient(`${url}/object-503`)
  const lines = (async function* () {
    yield '84a0'
  })()
  const report = await submitAll(client, lines, { patienceMs: 300, onRetry: (reason) => told.push(reason) })
  expect(report.stopped).toMatchObject({ code: 'HTTP_503', line: 1 })
  expect(told).toEqual(['POST /submit: 503'])
})
