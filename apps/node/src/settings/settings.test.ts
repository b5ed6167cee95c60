import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { maskedUrl, readSettings } from './read.js'
import { settingsSchema, settingsTables } from './schema.js'
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
