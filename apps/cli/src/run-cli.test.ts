import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createClient, WrongTokenError } from '@ratatosk/client'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { linesOfReport } from './commands/audit.js'
import { remedyOf } from './frame/node-connection.js'
import { tools } from './mcp/tools.js'
import { runCli } from './run-cli.js'
import { receiver } from './test/nodes.js'
import { run } from './test/run.js'
import { cliVersion } from './version.js'

const execute = promisify(execFile)

// Loading the node takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

test.each([
  [['strat'], 'Unknown command: strat.'],
  [['dead-letters', 'lst'], 'Unknown command: lst.'],
  [['start', '--confg', 'a'], "Unknown option '--confg'."],
  [['start', '--config'], "Option '--config <value>' argument missing."],
  [['start', 'now'], 'Unexpected argument: now.'],
  [['--quiet'], "Unknown option '--quiet'."],
  [['dead-letters', 'show'], 'Missing required positional argument: ID'],
  [
    ['keygen', '--out', 'key', '--network', 'sanchonet'],
    'Expected one of: devnet, preview, preprod, mainnet',
  ],
  [['status', '--url', 'localhost:3000'], '--url must be a URL such as http://127.0.0.1:3000.'],
  [['status', '--timeout', '0'], '--timeout is "0": it must be a whole number from 1 to 3600.'],
  [['dead-letters', 'list', '--limit', '1e3'], '--limit is "1e3": it must be a whole number from 1 to 500.'],
  [
    ['pay', '--to', receiver, '--lovelace', '-5'],
    '--lovelace is "-5": it must be a whole number from 1 to 45000000000000000; 1 ada is 1000000.',
  ],
  [['pay', '--to', receiver, '--lovelace', '99999999999999999'], 'from 1 to 45000000000000000; 1 ada'],
  [['help', 'strat'], 'Unknown command: strat.'],
  [['audit'], 'Name an archivist: --archivist http://127.0.0.1:3000/archivist'],
  [['verify', '--archivist', 'http://127.0.0.1:1'], 'Missing required positional argument: BLOCK'],
  [['verify', '0', '--archivist', 'http://127.0.0.1:1'], '"0" is no block: name a height from 1'],
  [[], 'USAGE ratatosk'],
  [['dead-letters'], 'USAGE ratatosk dead-letters list|show|replay|drop'],
])('%j ends with 2 and starts nothing', async (argv, message) => {
  const { status, out, error } = await run(argv)
  expect([status, out]).toEqual([2, ''])
  expect(error).toContain(message)
  if (argv.length === 0) return
  const json = await run([...argv, '--json'])
  expect(json).toMatchObject({ status: 2, error: '' })
  expect(JSON.parse(json.out).error).toMatchObject({ code: 'CLI_USAGE' })
})

test('the program ends with the status', async () => {
  const main = new URL('../dist/main.js', import.meta.url).pathname
  await expect(execute(process.execPath, [main, 'start', '--prot', '1'])).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining("Unknown option '--prot'"),
  })
  const { stdout } = await execute(process.execPath, [main, '--version'])
  expect(stdout).toBe(`${cliVersion}\n`)
})

test('prints help', async () => {
  expect((await run(['--help'])).out).toMatch(/dead-letters +Rejected transactions/)
  expect((await run(['start', '--config', 'a', '--help'])).out).toMatch(/--config=<path> +YAML file/)
  expect(await run(['help'])).toEqual(await run(['--help']))
  expect(await run(['help', 'dead-letters', 'list'])).toEqual(await run(['dead-letters', 'list', '--help']))
  expect(await run(['merge', '-h'])).toMatchObject({ status: 0, error: '' })
})

test('keygen writes a phrase that only its owner can read, and never over another', async () => {
  const file = join(await temporaryDirectory(), 'phrase')
  const { status, out } = await run(['keygen', '--out', file, '--network', 'mainnet', '--json'])
  expect(status).toBe(0)
  const phrase = await readFile(file, 'utf8')
  expect(out).not.toContain(phrase.trim())
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { addressText, payment } = keysFromSeedPhrase(phrase, { networkId: 1 })
  expect(JSON.parse(out)).toEqual({
    file,
    address: addressText,
    keyHash: Buffer.from(payment.hash).toString('hex'),
  })
  const again = await run(['keygen', '--out', file])
  expect(again).toMatchObject({ status: 1, error: expect.stringContaining('a key is never overwritten') })
  expect(await readFile(file, 'utf8')).toBe(phrase)
})

test('submit has nothing to send from an empty file, or behind its end', async () => {
  const file = join(await temporaryDirectory(), 'transactions')
  for (const [text, line] of [
    ['\n', '1'],
    ['84a0\n', '2'],
  ] as const) {
    await writeFile(file, text)
    const { status, out, error } = await run(['submit', file, '--from-line', line])
    expect([status, out]).toEqual([1, ''])
    expect(error).toBe(`"${file}" has no transaction from line ${line} on: nothing was sent.\n`)
  }
})

test('check names every fault, and ends with 1', async () => {
  const file = join(await temporaryDirectory(), 'node.yaml')
  await writeFile(file, 'PORT: 0\nDATA_DIR: /dev/null\n')
  const { status, out } = await run(['check', '--config', file, '--json'])
  expect(status).toBe(1)
  const { ok, findings } = JSON.parse(out)
  expect(ok).toBe(false)
  expect(findings).toContainEqual({
    subject: 'data directory',
    status: 'failed',
    message: expect.stringContaining('is not a directory. Set another DATA_DIR.'),
  })
  expect(findings).toContainEqual({ subject: 'Node.js', status: 'ok', message: process.versions.node })

  const invalid = await run(['check'], { PORT: 'http', NETWROK: 'devnet' })
  expect(invalid.status).toBe(1)
  expect(invalid.out).toContain('FAILED   settings: NETWROK is not a setting. Did you mean NETWORK?')
  expect(invalid.out).toContain('FAILED   settings: PORT is "http"')
  expect(await run(['check'], { PORT: '0' })).toMatchObject({ status: 0 })

  await writeFile(file, 'DATABASE_URL: hidden\nNODE_ROL: api\nMAX_TX_SIZE: abc\n')
  const faulty = await run(['check', '--config', file], { CORS_ORIGIN: 'a.b' })
  expect(faulty.status).toBe(1)
  for (const fault of [
    `${file}: DATABASE_URL is a secret: set DATABASE_URL_FILE`,
    `${file}: NODE_ROL is not a setting. Did you mean NODE_ROLE?`,
    'MAX_TX_SIZE is "abc"',
    'CORS_ORIGIN is "a.b"',
  ])
    expect(faulty.out).toContain(`FAILED   settings: ${fault}`)
})

test.each([
  ['PORTT: 3000', 'PORTT is not a setting. Did you mean PORT?'],
  ['HOST_FILE: a', 'HOST_FILE is not a setting.'],
  ['constructor: a', 'constructor is not a setting.'],
  [
    'OPERATOR_TOKEN: hidden',
    'OPERATOR_TOKEN is a secret: set OPERATOR_TOKEN_FILE to the path of a file that contains it.',
  ],
  ['PORT: { a: 1 }', 'PORT must be a value, or a list of values.'],
  ['- PORT', 'it must have lines such as `PORT: 3000`.'],
  ['a: [', 'cannot be used'],
])('a configuration file with %j starts nothing', async (text, message) => {
  const file = join(await temporaryDirectory(), 'node.yaml')
  await writeFile(file, text)
  const { status, out, error } = await run(['start', '--config', file])
  expect([status, out]).toEqual([1, ''])
  expect(error).toContain(message)
  expect(error).not.toContain('hidden')
})

test.each([
  ['/dev/zero', /: it is not a regular file\. Name a file on a disk\n$/],
  ['pipe', /: it is not a regular file\. Name a file on a disk\n$/],
  ['nested', /: its values are nested\. It must have lines such as `PORT: 3000`\n$/],
  ['long', /: it has more than 262144 bytes\. Name another file\n$/],
  ['many', /: and 950 further faults\n$/],
])('the configuration file %s is refused without a wait', async (name, message) => {
  const folder = await temporaryDirectory()
  await execute('mkfifo', [join(folder, 'pipe')])
  await writeFile(join(folder, 'nested'), `PORT: ${'['.repeat(100_000)}`)
  await writeFile(join(folder, 'long'), `PORT: ${'1'.repeat(300_000)}`)
  await writeFile(join(folder, 'many'), Array.from({ length: 1000 }, (_, n) => `A${n}: 1\n`).join(''))
  const { status, out, error } = await run(['start', '--config', resolve(folder, name)])
  expect([status, out]).toEqual([1, ''])
  expect(error).toMatch(message)
})

test('a token is not read from a device', async () => {
  const { status, error } = await run(['commit', '--token-file', '/dev/zero'])
  expect([status, error]).toEqual([
    1,
    '"/dev/zero" for OPERATOR_TOKEN: it is not a regular file. Name a file on a disk.\n',
  ])
})

test('the environment takes precedence over the configuration file', async () => {
  const file = join(await temporaryDirectory(), 'node.yaml')
  await writeFile(file, 'PORT: 65536\nCORS_ORIGIN: [https://a.example, https://b.example]\n')
  expect((await run(['check', '--config', file])).out).toContain('PORT is "65536"')
  const { status, out } = await run(['check', '--config', file], { PORT: '0' })
  expect(status, out).toBe(0)
  await writeFile(file, 'OPERATOR_TOKEN_FILE: /nowhere\nPORT: 0\n')
  expect((await run(['check', '--config', file], { OPERATOR_TOKEN: 'a' })).status).toBe(0)
  expect((await run(['check', '--config', file])).out).toContain('OPERATOR_TOKEN_FILE is "/nowhere"')
})

test.each([
  ['ratatosk de', ['deposit', 'dead-letters', 'demo']],
  ['ratatosk dead-letters re', ['replay']],
  ['ratatosk start --c', ['--config']],
  [
    'ratatosk dead-letters list --',
    ['--url', '--timeout', '--token-file', '--limit', '--before', '--json', '--help'],
  ],
])('completes %j in bash', async (line, words) => {
  const { out } = await run(['completion'])
  const all = line.split(' ')
  const script = `${out}
COMP_WORDS=(${all.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${all.length - 1}
_ratatosk; echo "\${COMPREPLY[@]}"`
  const { stdout } = await execute('bash', ['-c', script])
  expect(stdout.trim().split(' ')).toEqual(words)
})

test('prints completions for zsh and fish', async () => {
  expect((await run(['completion', '--shell', 'zsh'])).out).toMatch(/^autoload -U \+X bashcompinit/)
  expect((await run(['completion', '--shell', 'fish'])).out).toMatch(
    /-n '__fish_seen_subcommand_from dead-letters' -a 'list show replay drop --help'/,
  )
})

test('audit and verify name what is missing or does not answer', async () => {
  const archivist = ['--archivist', 'http://127.0.0.1:1/archivist']
  const devnet = await run(['audit', ...archivist])
  expect(devnet).toMatchObject({ status: 1, error: expect.stringContaining('DEVNET_PORT=1337') })
  expect(devnet.error).toMatch(
    /^This command reads layer 1: set LAYER1_PROVIDER=blockfrost and BLOCKFROST_URL/,
  )
  expect(devnet.error).not.toContain('NODE_ROLE')
  const away = { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: 'http://127.0.0.1:1/api/v0' }
  const verified = await run(['verify', '1', ...archivist], away)
  expect(verified).toMatchObject({ status: 1, error: expect.stringMatching(/^Layer 1 \(Blockfrost at /) })
  const password = await run(['audit', '--archivist', 'http://user:secret@127.0.0.1:1'], away)
  expect(password.error).toContain('must not contain a user or password')
  expect([password.status, password.error.includes('secret')]).toEqual([2, false])
})

test('the remedy for a wrong token names the token', () => {
  const refused = (request: string) =>
    remedyOf(
      new WrongTokenError({ request, url: '', status: 401, body: '', retryAfter: undefined, link: null }),
    )
  expect(refused('POST /faucet/claims')).toContain('must hold the FAUCET_TOKEN of this node')
  expect(refused('GET /commit')).toContain('must hold the OPERATOR_TOKEN of this node')
})

test('a fault of the program is one escaped line, with a stack only at the log level debug', async () => {
  const fault = new TypeError('Cannot convert \u001b[31m\u009b\u202e\nforged to a BigInt')
  const faulty = async (argv: readonly string[], environment: Record<string, string>) => {
    let [out, error] = ['', '']
    const status = await runCli(argv, {
      environment: new Proxy(environment, {
        get: (target, name) => {
          if (name === 'HOST') throw fault
          return Reflect.get(target, name)
        },
      }),
      write: (text) => {
        out += text
      },
      writeError: (text) => {
        error += text
      },
    })
    return { status, out, error }
  }
  const { status, out, error } = await faulty(['status'], {})
  expect([status, out]).toEqual([1, ''])
  expect(error).toMatch(/^Unexpected failure: TypeError: Cannot convert \\u001b\[31m[^\n]*\n$/)
  expect(error).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  const json = await faulty(['status', '--json'], {})
  expect([JSON.parse(json.out).error.code, json.error]).toEqual(['CLI_FAULT', ''])
  expect((await faulty(['status'], { LOG_LEVEL: 'debug' })).error).toMatch(/^ {4}at /m)
})

test('status shows for how long submissions wait, whether the node is ready or not', async () => {
  let ready: readonly [status: number, body: object] = [200, { status: 'ready' }]
  const server = createServer(({ url }, response) => {
    const [status, body] = url === '/health/ready' ? ready : [404, { error: 'Not Found', code: 'DISABLED' }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const argv = ['status', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
  expect((await run(argv)).out).not.toContain('submissions')
  const line = /^submissions {5}the oldest has waited for 81 s: check that .* "tx-processor" runs/m
  for (const [status, body] of [
    [200, { status: 'ready' }],
    [503, { status: 'not_ready', failing: ['layer1'] }],
  ] as const) {
    ready = [status, { ...body, oldestWaitingMs: 81_155, silentPeers: 1 }]
    expect(await run(argv)).toMatchObject({
      status: status === 200 ? 0 : 1,
      out: expect.stringMatching(line),
    })
    expect((await run(argv)).out).toMatch(/^peers {11}without blocks of this ledger: 1 of its/m)
    expect(JSON.parse((await run([...argv, '--json'])).out)).toMatchObject({ oldestWaitingMs: 81_155 })
  }
})

test('a URL that may be wrong is named, with the option', async () => {
  const away = await run(['status'], { PORT: '9' })
  expect(away).toMatchObject({
    status: 1,
    error:
      'GET /health/ready: no answer from http://127.0.0.1:9. Check that the node runs and its URL is right ' +
      '(--url; without it, HOST and PORT)\n',
  })
  const server = createServer((_, response) =>
    response.writeHead(404).end('{"error":"Not Found","code":"DISABLED"}'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const path of ['/l2', '/l2/'])
    expect(await run(['status', '--url', `${url}${path}`])).toMatchObject({
      error:
        'GET /health/ready: 404 Not Found. The URL of a node has no path, unless a proxy adds one: ' +
        `try --url ${url}\n`,
    })
  expect((await run(['status', '--url', url])).error).toContain("This node's role does not serve it")
  const rollBack = tools.find(({ name }) => name === 'roll_back')
  const context = { client: createClient(url), devnetUrl: `${url}/devnet` }
  await expect(rollBack?.run({ blocks: 1 }, context)).rejects.toThrow(
    '--devnet-url names the controls of the devnet: /devnet of the node that sequences',
  )
})

test('an audit calls no claim what was paid out of the genesis', () => {
  const amounts = { genesis: 0n, fees: 0n, paid: 0n, deposited: 0n, withdrawn: 0n, unspent: 0n }
  const treasury = { held: 80_000_000n, claims: -20_000_000n, owed: 0n, waiting: 0n, waitingDeposits: 0 }
  const report = { verdict: 'clean', findings: [], omittedFindings: 0, unchecked: [], counts: {} }
  const lines = linesOfReport({ ...report, lovelace: amounts, treasury } as never)
  expect(lines.join('\n')).toContain('no claims: 20 ada more were paid out than deposited and --backed')
})
