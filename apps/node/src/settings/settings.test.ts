import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { loadGenesis } from '../network/network.js'
import { duties } from '../roles.js'
import { assignments, exampleSettings, nodeServices, passwords, readShipped } from '../test/compose.js'
import { shortWindow } from './derived.js'
import { edits, maskedUrl, nearMisses, readSettings } from './read.js'
import { readRegularFile } from './regular-file.js'
import { settingNotes, settingsSchema, settingsTables } from './schema.js'
import { phrase, preprod, problemsOf } from './test/problems-of.js'

test('fills in every default', () => {
  expect(readSettings({})).toEqual({
    SERVE_DOCS: true,
    SERVE_CONSOLE: true,
    SERVE_EXPLORER: true,
    SERVE_LAYER2_APIS: true,
    LAYER2_SUBMIT_TIMEOUT_MS: 15_000,
    INDEX_MAX_LAG_MS: 30_000,
    REPLICA_MAX_LAG_MS: 30_000,
    SERVE_PROOFS: true,
    PROOF_BLOCKS: 64,
    SERVE_EVALUATE: true,
    SERVE_METRICS: false,
    SERVE_EVENTS: true,
    EVENTS_MAX_CLIENTS: 1000,
    EVIDENCE_MAX_BYTES: 1024 ** 3,
    SERVE_TX_STATUS: true,
    HOST: '127.0.0.1',
    PORT: 3000,
    NODE_ROLE: 'all',
    NETWORK: 'devnet',
    UNKNOWN_SETTINGS: 'refuse',
    DATA_DIR: '.ratatosk',
    DATABASE_SCHEMA: 'ratatosk',
    DATABASE_POOL_SIZE: 10,
    QUEUE_PREFIX: 'ratatosk',
    MAX_TX_SIZE: 16384,
    SUBMIT_MAX_ATTEMPTS: 5,
    QUEUE_MAX_WAITING: 100000,
    QUEUE_MAX_WAITING_BYTES: 268435456,
    DEAD_LETTER_MAX_AGE_MS: 2592000000,
    DEAD_LETTER_MAX_BYTES: 268435456,
    VALIDATION_BATCH_SIZE: 256,
    WATCHER_MAX_LOVELACE_PER_HOUR: 500_000_000,
    OPERATOR_OPEN: false,
    TRUST_PROXY: 'false',
    ACCESS_LOG: 'off',
    HEALTH_PROBE_TIMEOUT_MS: 3000,
    REQUEST_TIMEOUT_MS: 10000,
    STALL_TIMEOUT_MS: 30000,
    KEEP_ALIVE_TIMEOUT_MS: 72000,
    MAX_CONNECTIONS: 5000,
    MAX_EVENT_LOOP_DELAY_MS: 1000,
    RATE_LIMIT: 0,
    SHUTDOWN_TIMEOUT_MS: 30000,
    LOG_LEVEL: 'info',
    ADMIN_RENOUNCED: false,
    LAYER1_PROVIDER: 'devnet',
    PROTOCOL: 'RATATOSK',
    AUTO_INIT: true,
    AUTO_COMMIT: true,
    AUTO_MERGE: true,
    AUTO_PAY: true,
    COMMIT_BUDGET_PER_HOUR: 0,
    COMMIT_INTERVAL_MS: 750,
    MERGE_INTERVAL_MS: 10000,
    BLOCK_MAX_TRANSACTIONS: 10000,
    BLOCK_VALIDITY_MS: 10000,
    MATURITY_WINDOW_MS: 30000,
    OPERATOR_TURN_MS: 3600000,
    OPERATOR_BOND: 500000000,
    SLASH_PENALTY: 0,
    SEQUENCER_LEASE_MS: 10000,
    OPERATION_INTERVAL_MS: 50,
    OPERATION_TIMEOUT_MS: 180000,
    FAUCET_ENABLED: true,
    OGMIOS_VERSION: '6',
    OGMIOS_STRICT_RPC: false,
    FAUCET_LAYER: '1',
    FAUCET_AMOUNT: 100000000,
    FAUCET_COOLDOWN_SECONDS: 86400,
    FAUCET_DAILY_IP_LIMIT: 5,
    FAUCET_MIN_BALANCE: 100000000,
  })
})

test('uses longer intervals on a public network', () => {
  const settings = readSettings({
    ...preprod,
    OPERATOR_SEED_PHRASE: phrase,
    ADMIN_SEED_PHRASE: phrase,
  })
  expect(settings).toMatchObject({
    AUTO_INIT: false,
    BLOCK_VALIDITY_MS: 120_000,
    COMMIT_BUDGET_PER_HOUR: 20_000_000,
    COMMIT_INTERVAL_MS: 300_000,
    MATURITY_WINDOW_MS: 604_800_000,
  })
})

test('parses values, and ignores empty variables and those of other programs', () => {
  const settings = readSettings({
    ...preprod,
    OPERATOR_SEED_PHRASE: phrase,
    ADMIN_SEED_PHRASE: phrase,
    PORT: '0',
    NODE_ROLE: '',
    LOG_FORMAT: 'json',
    HOME: '/',
  })
  expect(settings).toMatchObject({ PORT: 0, NODE_ROLE: 'all', NETWORK: 'preprod', LOG_FORMAT: 'json' })
  expect(settings).not.toHaveProperty('HOME')
})

test('parses lists', () => {
  expect(
    readSettings({
      PUBLIC_HOSTS: 'node.example , 192.168.1.20,2001:db8::1,[::2]',
      CORS_ORIGIN: 'https://wallet.example, http://127.0.0.1:5173,chrome-extension://abcdef',
      ARCHIVIST_PEERS: 'http://a:3000/archivist,https://b',
    }),
  ).toMatchObject({
    PUBLIC_HOSTS: ['node.example', '192.168.1.20', '2001:db8::1', '[::2]'],
    CORS_ORIGIN: ['https://wallet.example', 'http://127.0.0.1:5173', 'chrome-extension://abcdef'],
    ARCHIVIST_PEERS: ['http://a:3000/archivist', 'https://b'],
  })
  expect(readSettings({ CORS_ORIGIN: '*' }).CORS_ORIGIN).toEqual(['*'])
})

test('reports every invalid value at once', () => {
  expect(problemsOf({ PORT: 'x', LOG_LEVEL: 'y', REDIS_URL_FILE: '/nowhere' })).toHaveLength(3)
})

test('reads a secret from a file, and never shows it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-secret-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const path = join(directory, 'url')
  await writeFile(path, 'redis://:opensesame@localhost:6379\n')
  expect(readSettings({ REDIS_URL_FILE: path }).REDIS_URL).toBe('redis://:opensesame@localhost:6379')

  await writeFile(path, 'http://:opensesame@localhost')
  expect(problemsOf({ REDIS_URL_FILE: path }).join()).not.toMatch('opensesame')
  expect(problemsOf({ DATABASE_URL: 'opensesame' }).join()).not.toMatch('opensesame')
})

test.each([
  ['postgres://me:opensesame@db:5432/ledger?sslpassword=x', 'postgres://***@db:5432/ledger'],
  ['redis://:opensesame@localhost:6379/', 'redis://***@localhost:6379'],
  ['redis://localhost', 'redis://localhost'],
  ['postgres://a:b@h1:1,h2:2/x', '(hidden: the URL has a form that cannot be masked)'],
])('shows %s without credentials', (url, shown) => {
  expect(maskedUrl(url)).toBe(shown)
})

test('documents every setting of the schema in one row', () => {
  const tables = settingsTables()
  const rows = tables.split('\n').filter((line) => line.startsWith('| `'))
  expect(rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1])).toEqual(Object.keys(settingsSchema.properties))
  expect(tables).toMatch('| `PORT` | `3000` | Port to listen on')
  expect(tables).toMatch('| `REDIS_URL`, `REDIS_URL_FILE` | unset | ')
  for (const row of rows) expect(row.replaceAll('\\|', '').split('|'), row).toHaveLength(5)
})

describe('names', () => {
  test.each([
    ['OPERATOR_TOKNE', 'OPERATOR_TOKEN'],
    ['NETWROK', 'NETWORK'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['PROT', 'PORT'],
    ['OPERATOR_TOKEN_FIL', 'OPERATOR_TOKEN_FILE'],
    ['ADMIN_KEY', 'ADMIN_KEY_HASH'],
    ['MATURITY_WINDOW', 'MATURITY_WINDOW_MS'],
    ['MATURITY_WINDOW_SECONDS', 'MATURITY_WINDOW_MS'],
  ])('refuses %s, which is not a setting, and names %s', (variable, setting) => {
    const question = `Did you mean ${setting}? If not, set UNKNOWN_SETTINGS=warn.`
    const message = `${variable} is not a setting. ${question}`
    expect(problemsOf({ [variable]: 'x' })).toEqual([message])
    const warnings: string[] = []
    readSettings({ [variable]: 'x', UNKNOWN_SETTINGS: 'warn' }, (warning) => warnings.push(warning))
    expect(warnings).toEqual([message])
  })

  test('takes variables of other programs for no setting', () => {
    const others = {
      HOME: '/',
      PATH: '',
      PWD: '',
      TERM: '',
      USER: '',
      HOSTNAME: '',
      NODE_ENV: '',
      NO_COLOR: '',
      CI: '',
    }
    expect(nearMisses({ ...others, PORT: '1', FAUCET_TOKEN_FILE: '/x' })).toEqual([])
  })

  test('ignores what Kubernetes sets for a service of the name', () => {
    const warnings: string[] = []
    const settings = readSettings({ DEVNET_PORT: 'tcp://10.0.0.5:1337' }, (warning) => warnings.push(warning))
    expect(settings.DEVNET_PORT).toBeUndefined()
    expect(warnings).toEqual([expect.stringMatching(/^DEVNET_PORT is "tcp:.*it is ignored/)])
    expect(problemsOf({ DEVNET_PORT: 'http://10.0.0.5:1337' })).toHaveLength(1)
  })

  test.each([
    ['', '', 0],
    ['ab', 'ba', 1],
    ['abc', 'ab', 1],
    ['abcd', 'bacx', 2],
  ])('%s and %s are %i edits apart', (from, to, distance) => {
    expect(edits(from, to)).toBe(distance)
  })
})

describe('regular file', () => {
  function folderOf(context: TestContext): string {
    const folder = mkdtempSync(join(tmpdir(), 'ratatosk-settings-'))
    context.onTestFinished(() => rmSync(folder, { recursive: true }))
    return folder
  }

  const devnet = { name: 'devnet' } as never
  const notRegular = 'it is not a regular file. Name a file on a disk'

  test('a file is read up to its limit, also by a link, and where its size is not known', (context) => {
    const folder = folderOf(context)
    const file = join(folder, 'file')
    writeFileSync(file, 'é'.repeat(50_000))
    symlinkSync(file, join(folder, 'link'))
    expect(readRegularFile(join(folder, 'link'), 100_000)).toBe('é'.repeat(50_000))
    expect(() => readRegularFile(file, 99_999)).toThrow('it has more than 99999 bytes. Name another file')
    expect(readRegularFile('/proc/self/status', 100_000)).toMatch(/^Name:/)
  })

  test('what may have no end, or send nothing, is refused', (context) => {
    const folder = folderOf(context)
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of ['/dev/zero', pipe, folder])
      expect(() => readRegularFile(path, 10)).toThrow(notRegular)
    expect(() => readRegularFile(join(folder, 'none'), 10)).toThrow(
      'the file cannot be read: it does not exist',
    )
  })

  test('settings name what is wrong with the files that they name', async (context) => {
    const pipe = join(folderOf(context), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(problemsOf({ OPERATOR_TOKEN_FILE: '/dev/zero', FAUCET_TOKEN_FILE: pipe })).toEqual([
      `OPERATOR_TOKEN_FILE is "/dev/zero": ${notRegular}.`,
      `FAUCET_TOKEN_FILE is "${pipe}": ${notRegular}.`,
    ])
    for (const GENESIS_FILE of [pipe, '/dev/zero'])
      await expect(loadGenesis({ GENESIS_FILE }, devnet)).rejects.toMatchObject({
        problems: [`GENESIS_FILE is "${GENESIS_FILE}": ${notRegular}.`],
      })
  })

  test('JSON of many levels is not parsed', async (context) => {
    const GENESIS_FILE = join(folderOf(context), 'genesis.json')
    writeFileSync(GENESIS_FILE, '['.repeat(1_000_000))
    await expect(loadGenesis({ GENESIS_FILE }, devnet)).rejects.toMatchObject({
      problems: [`GENESIS_FILE is "${GENESIS_FILE}": the file is not JSON (more than 100 levels).`],
    })
  })
})

test('a watcher warns of a window in which an operator has no time to restart', () => {
  const watcher = {
    NODE_ROLE: 'watcher',
    ARCHIVIST_PEERS: 'http://127.0.0.1:3000/archivist',
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: 'http://127.0.0.1:1337',
  }
  const warning = (settings: Record<string, string>) => shortWindow(readSettings({ ...watcher, ...settings }))
  expect(warning({})).toMatch(/^MATURITY_WINDOW_MS is 30000: an honest operator who is down for 10.5 s/)
  expect(warning({ VERDICT_POLICIES: 'none' })).toBe(undefined)
  expect(warning({ MATURITY_WINDOW_MS: '120000' })).toBe(undefined)
})

type Environment = Readonly<Record<string, string>>

const example = readShipped('.env.example')
const compose = readShipped('compose.yaml')
const dockerfile = readShipped('Dockerfile')
const unit = readShipped('ops/ratatosk@.service')
const caddyfile = readShipped('ops/Caddyfile')

/** The variables that Docker, its Node image and systemd add to the environment of a process. */
const surroundings = {
  ...{ PATH: '/', HOME: '/', HOSTNAME: 'f00', NODE_VERSION: '26', YARN_VERSION: '1', LANG: 'C', USER: 'u' },
  ...{ LOGNAME: 'u', SHELL: '/', INVOCATION_ID: '1', JOURNAL_STREAM: '1', SYSTEMD_EXEC_PID: '1' },
  ...{ STATE_DIRECTORY: '/', CREDENTIALS_DIRECTORY: '/' },
}

const devnet = { ...exampleSettings(), ...passwords }
const imageSettings = assignments(/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '', /(\w+)=(\S+)/g)
const isSetting = (name: string) => settingNotes.has(name) || settingNotes.has(name.replace(/_FILE$/, ''))

/** Fails if the node would not start with these settings, or warns of one. */
function accept(environment: Environment) {
  return readSettings({ ...surroundings, ...environment }, (warning) => expect.unreachable(warning))
}

test('the containers of .env.example and compose.yaml start with valid settings', () => {
  const roles = nodeServices(devnet).map(([, { environment }]) => {
    for (const name of Object.keys(environment)) expect(isSetting(name), name).toBe(true)
    return accept({ ...imageSettings, ...environment }).NODE_ROLE
  })
  expect(roles).toEqual([
    ...['api', 'reader', 'tx-processor', 'sequencer', 'archivist', 'watcher'],
    'tx-processor',
  ])
})

const keysOf: Readonly<Record<string, readonly string[]>> = {
  sequencer: ['ADMIN_SEED_PHRASE', 'OPERATOR_SEED_PHRASE'],
  watcher: ['WATCHER_SEED_PHRASE'],
}

test('they also do with everything that .env.example names for a public network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-secrets-'))
  try {
    for (const name of ['operator', 'administrator', 'watcher']) writeFileSync(join(folder, name), phrase)
    const filledIn: Environment = {
      ...assignments(example, /^#?([A-Z]\w*)=(.*)$/gm),
      ...passwords,
      NETWORK: 'preprod',
      MATURITY_WINDOW_MS: '',
      BLOCKFROST_PROJECT_ID: 'preprod1',
      DEPLOYMENT_OUTPUT: `${'0'.repeat(64)}#0`,
      OPERATOR_ADDRESS: 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv',
      ADMIN_KEY_HASH: '1'.repeat(56),
    }
    for (const [name, { environment }] of nodeServices(filledIn)) {
      const inside = Object.entries(environment).map(([key, value]) => [
        key,
        value.replace('/run/secrets', folder),
      ])
      const settings = accept({ ...imageSettings, ...Object.fromEntries(inside) })
      expect(settings.NETWORK, name).toBe('preprod')
      const keys = Object.keys(settings).filter((each) => each.endsWith('_SEED_PHRASE'))
      expect(keys.toSorted(), name).toEqual(keysOf[name] ?? [])
      if (settings.NODE_ROLE !== 'tx-processor') expect(settings.LAYER1_PROVIDER, name).not.toBe('devnet')
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('compose.yaml reads every variable of .env.example, and no other', () => {
  const used = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  const named = Object.keys(assignments(example, /^#?([A-Z]\w*)=(.*)$/gm))
  expect([...new Set(used)].sort()).toEqual(named.sort())
})

test('image and service run the node with the options of npm start, on a Node that is tested', async () => {
  const launcher = new URL('../../../../scripts/launch.mjs', import.meta.url).href
  const { nodeOptions }: { nodeOptions: string[] } = await import(launcher)
  const command = ['node', ...nodeOptions, 'dist/main.js']
  expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(command)
  expect(JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(['start'])
  const started = `${command.join(' ').replace('dist', '/opt/ratatosk/dist')} start`
  expect(unit).toContain(`ExecStart=/usr/bin/${started}\n`)
  const tested = Object.keys(JSON.parse(readShipped('scripts/engines/package.json')).dependencies)
  expect(tested.at(-1)).toBe(`node-${/^ARG NODE=(\d+)-\w+-slim$/m.exec(dockerfile)?.[1]}`)
})

test('the service starts with valid settings', () => {
  const settings = assignments(/^Environment=(.*)$/m.exec(unit)?.[1] ?? '', /(\w+)=(\S+)/g)
  expect(accept(settings).DATA_DIR).toBe('/var/lib/ratatosk/%i')
  expect(unit).toContain('StateDirectory=ratatosk/%i\n')
})

test('the files in ops/env are valid settings, one for each role, and those of compose.yaml', () => {
  const names = ['api-1', 'reader-1', 'processor-1', 'sequencer-1', 'archivist-1', 'watcher-1']
  const files = names.map((name) => ({ name, text: readShipped(`ops/env/${name}.env`) }))
  const followers: [{ readonly ARCHIVIST_PEERS?: readonly string[] }, Environment][] = []
  const ports = files.map(({ name, text }) => {
    for (const [, named] of text.matchAll(/ratatosk[@/](?:secrets\/)?(\w+-1)/g)) expect(named).toBe(name)
    const commented = assignments(text, /^#?([A-Z]\w*)=(.*)$/gm)
    for (const each of Object.keys(commented)) expect(isSetting(each), each).toBe(true)
    const given = assignments(text, /^([A-Z]\w*)=(.*)$/gm)
    const secrets = Object.keys(given).filter((each) => each.endsWith('_FILE'))
    const read = Object.fromEntries(
      secrets.flatMap((each) => [
        [each, ''],
        [each.slice(0, -'_FILE'.length), each.startsWith('DATABASE') ? 'postgres://db/ratatosk' : 'a-secret'],
      ]),
    )
    const settings = accept({ ...given, ...read })
    const [, service] =
      nodeServices(devnet).find(([, { environment }]) => environment.NODE_ROLE === settings.NODE_ROLE) ?? []
    const named = (environment: Environment) =>
      Object.entries(environment)
        // The devnet is the default.
        .filter(([each, value]) => value !== '' && !(each === 'LAYER1_PROVIDER' && value === 'devnet'))
        .map(([each]) => each.replace(/_FILE$/, ''))
        .filter((each) => each !== 'HOST' && each !== 'PORT')
        .sort()
    expect(named(given), name).toEqual(named(service?.environment ?? {}))
    if (duties[settings.NODE_ROLE].bodies === 'archive')
      followers.push([settings, service?.environment ?? {}])
    return settings.PORT
  })
  expect(new Set(ports).size).toBe(files.length)
  // While a standby takes over, readers serve the bodies.
  const [, reader, , sequencer] = ports
  for (const [{ ARCHIVIST_PEERS }, { ARCHIVIST_PEERS: composed }] of followers) {
    expect(ARCHIVIST_PEERS).toEqual([sequencer, reader].map((port) => `http://127.0.0.1:${port}/archivist`))
    expect(composed).toBe('http://sequencer-inner:3000/archivist,http://reader:3000/archivist')
  }
  expect(followers).toHaveLength(2)
})

test('a node has time to stop, and keeps connections for longer than Caddy', () => {
  const { SHUTDOWN_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS } = readSettings({})
  const seconds = (text: string | undefined) => Number(/^(\d+)s?$/.exec(text ?? '')?.[1])
  for (const [name, { stop_grace_period }] of nodeServices(devnet))
    expect(seconds(stop_grace_period) * 1000, name).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS + 1000)
  const stopSeconds = seconds(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1])
  expect(stopSeconds * 1000).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS + 1000)
  expect(seconds(/keepalive (\w+)/.exec(caddyfile)?.[1]) * 1000).toBeLessThan(KEEP_ALIVE_TIMEOUT_MS)
})

test('Caddy hides every operator route', () => {
  const hidden = /^\t@operator path (.*)$/m.exec(caddyfile)?.[1]?.split(' ') ?? []
  const routes = [...readShipped('docs/routes.md').matchAll(/^\| `\w+ (\/\S*)` .*\| operator \|/gm)]
  expect(routes.length).toBeGreaterThan(10)
  const isHidden = (route: string) =>
    hidden.some((path) => (path.endsWith('*') ? route.startsWith(path.slice(0, -1)) : route === path))
  for (const [, route = ''] of routes) expect(isHidden(route), route).toBe(true)
})
