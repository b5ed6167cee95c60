import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { SettingsError } from '../errors.js'
import { maskedUrl } from './masked.js'
import { readSettings } from './read.js'
import { settingsSchema } from './schema.js'
import { settingsTable } from './table.js'

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

t.test('without any variable, every setting has its default', async (t) => {
  t.same(readSettings({}), {
    HOST: '127.0.0.1',
    PORT: 3000,
    NODE_ROLE: 'all',
    NETWORK: 'devnet',
    DATA_DIR: '.ratatosk',
    DATABASE_SCHEMA: 'ratatosk',
    DATABASE_POOL_SIZE: 10,
    QUEUE_PREFIX: 'ratatosk',
    MAX_TX_SIZE: 16384,
    SUBMIT_MAX_ATTEMPTS: 5,
    VALIDATION_BATCH_SIZE: 256,
    HEALTH_PROBE_TIMEOUT_MS: 3000,
    REQUEST_TIMEOUT_MS: 10000,
    SHUTDOWN_TIMEOUT_MS: 30000,
    LOG_LEVEL: 'info',
    LAYER1_PROVIDER: 'devnet',
    PROTOCOL: 'RATATOSK',
    AUTO_COMMIT: true,
    AUTO_MERGE: true,
    COMMIT_INTERVAL_MS: 1000,
    MERGE_INTERVAL_MS: 10000,
    BLOCK_MAX_TRANSACTIONS: 10000,
    OPERATOR_TURN_MS: 3600000,
    OPERATOR_BOND: 500000000,
    SEQUENCER_LEASE_MS: 10000,
    OPERATION_TIMEOUT_MS: 180000,
    FAUCET_ENABLED: true,
    FAUCET_LAYER: '1',
    FAUCET_AMOUNT: 100000000,
    FAUCET_COOLDOWN_SECONDS: 86400,
    FAUCET_DAILY_IP_LIMIT: 5,
    FAUCET_MIN_BALANCE: 100000000,
  })
})

t.test(
  'values are read as what they are; an empty variable and a foreign one count for nothing',
  async (t) => {
    const settings = readSettings({
      PORT: '0',
      NODE_ROLE: '',
      NETWORK: 'preprod',
      LOG_FORMAT: 'json',
      HOME: '/',
    })
    t.match(settings, { PORT: 0, NODE_ROLE: 'all', NETWORK: 'preprod', LOG_FORMAT: 'json' })
    t.notOk('HOME' in settings)
  },
)

t.test('a wrong value is answered by one sentence that names it and what is allowed', async (t) => {
  const wholePort = 'it must be a whole number from 0 to 65535.'
  for (const [environment, problem] of [
    [{ PORT: 'abc' }, `PORT is "abc": ${wholePort}`],
    [{ PORT: '-1' }, `PORT is "-1": ${wholePort}`],
    [{ PORT: '65536' }, `PORT is "65536": ${wholePort}`],
    [{ PORT: '80.5' }, `PORT is "80.5": ${wholePort}`],
    [{ PORT: '0x50' }, `PORT is "0x50": ${wholePort}`],
    [{ PORT: '1e3' }, `PORT is "1e3": ${wholePort}`],
    [{ PORT: ' 80' }, `PORT is " 80": ${wholePort}`],
    [{ PORT: 'true' }, `PORT is "true": ${wholePort}`],
    [
      { NODE_ROLE: 'master' },
      'NODE_ROLE is "master": it must be one of all, api, tx-processor, sequencer, archivist.',
    ],
    [
      { NODE_ROLE: 'api' },
      'NODE_ROLE is "api" but DATABASE_URL is not set: the embedded store belongs to one process, so only the roles "all" and "archivist" can do without PostgreSQL.',
    ],
    [
      { LAYER1_PROVIDER: 'blockfrost' },
      'LAYER1_PROVIDER is "blockfrost" but BLOCKFROST_URL is not set: it says where to reach it.',
    ],
    [
      { BLOCKFROST_URL: 'cardano-preprod.blockfrost.io' },
      'BLOCKFROST_URL is "cardano-preprod.blockfrost.io": it must be an address such as https://cardano-preprod.blockfrost.io/api/v0.',
    ],
    [{ AUTO_COMMIT: 'yes' }, 'AUTO_COMMIT is "yes": it must be true or false.'],
    [{ AUTO_INIT: '1' }, 'AUTO_INIT is "1": it must be true or false.'],
    [
      { OPERATOR_SEED_PHRASE: 'opensesame' },
      'OPERATOR_SEED_PHRASE has a value that cannot be used: it must be 24 words of BIP-39.',
    ],
    [
      { PROTOCOL: 'MBLCX' },
      'PROTOCOL is "MBLCX": it must be up to 16 of A-Z, 0-9 and _, not beginning with MBLC.',
    ],
    [{ FAUCET_LAYER: '3' }, 'FAUCET_LAYER is "3": it must be one of 1, 2.'],
    [
      { NODE_ROLE: 'archivist', LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: 'http://127.0.0.1:1337' },
      'NODE_ROLE is "archivist" but ARCHIVIST_PEERS is not set: it says where the bodies of blocks are to be had, such as http://127.0.0.1:3000/archivist.',
    ],
    [{ NETWORK: 'Mainnet' }, 'NETWORK is "Mainnet": it must be one of devnet, preview, preprod, mainnet.'],
    [
      { NETWORK: 'mainnet', GENESIS_FILE: 'genesis.json' },
      'GENESIS_FILE is set but NETWORK is "mainnet": a ledger of mainnet begins empty, genesis outputs are for test networks.',
    ],
    [
      { DATABASE_URL: 'mysql://root:opensesame@db/x' },
      'DATABASE_URL has a value that cannot be used: it must be an address such as postgres://user:password@host:5432/database.',
    ],
    [
      { REDIS_URL: 'opensesame@localhost:6379' },
      'REDIS_URL has a value that cannot be used: it must be an address such as redis://user:password@host:6379/0.',
    ],
    [{ REDIS_URL_FILE: '/nowhere' }, 'REDIS_URL_FILE is "/nowhere": no file can be read there.'],
    [
      { REDIS_URL_FILE: '/nowhere', REDIS_URL: 'redis://localhost' },
      'REDIS_URL and REDIS_URL_FILE are both set: one of them is enough.',
    ],
    [
      { DATABASE_SCHEMA: 'a"; DROP' },
      'DATABASE_SCHEMA is "a\\"; DROP": it must be up to 55 of a-z, 0-9 and _, not beginning with a digit.',
    ],
    [
      { QUEUE_PREFIX: 'a:b' },
      'QUEUE_PREFIX is "a:b": it must be up to 100 characters without white space, colon and braces.',
    ],
    [{ SUBMIT_MAX_ATTEMPTS: '0' }, 'SUBMIT_MAX_ATTEMPTS is "0": it must be a whole number from 1 to 1000.'],
    [{ MAX_TX_SIZE: 'big' }, 'MAX_TX_SIZE is "big": it must be a whole number from 1 to 1048576.'],
    [
      { VALIDATION_BATCH_SIZE: '0' },
      'VALIDATION_BATCH_SIZE is "0": it must be a whole number from 1 to 10000.',
    ],
    [
      { HEALTH_PROBE_TIMEOUT_MS: '0' },
      'HEALTH_PROBE_TIMEOUT_MS is "0": it must be a whole number from 1 to 600000.',
    ],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL is "loud": it must be one of trace, debug, info, warn, error, fatal, silent.',
    ],
    [{ LOG_FORMAT: 'xml' }, 'LOG_FORMAT is "xml": it must be one of pretty, json.'],
  ] as const) {
    t.same(problemsOf(environment), [problem])
  }
})

t.test('every wrong value is told at once', async (t) => {
  const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'y', REDIS_URL_FILE: '/nowhere' })
  t.equal(problems.length, 3)
})

t.test(
  'off the devnet, whoever signs brings keys, and whoever reads brings what is public of them',
  async (t) => {
    const preprod = {
      NETWORK: 'preprod',
      LAYER1_PROVIDER: 'kupmios',
      KUPO_URL: 'http://127.0.0.1:1442',
      OGMIOS_URL: 'http://127.0.0.1:1337',
      DATABASE_URL: 'postgres://db/ledger',
    }
    const phrase = `${'test '.repeat(23)}sauce`
    const named = (problems: readonly string[]) =>
      problems.map((problem) => /([A-Z_]+) (?:is not )?set:/.exec(problem)?.[1])
    t.same(named(problemsOf(preprod)), ['OPERATOR_SEED_PHRASE', 'ADMIN_SEED_PHRASE'])
    t.same(named(problemsOf({ ...preprod, NODE_ROLE: 'sequencer' })), [
      'OPERATOR_SEED_PHRASE',
      'ADMIN_SEED_PHRASE',
    ])
    t.same(problemsOf({ ...preprod, OPERATOR_SEED_PHRASE: phrase, ADMIN_SEED_PHRASE: phrase }), [])
    t.equal(problemsOf({ ...preprod, NODE_ROLE: 'api' }).length, 2)
    const address =
      'addr_test1qpqy3lufef8c3en9nrnzp2svwy5vy9zangvp46dy4qw23clgfxhn3pqv243d6wptud7fuaj5tjqer7wc7m036gx0emsqaqa8te'
    t.same(
      problemsOf({
        ...preprod,
        NODE_ROLE: 'api',
        OPERATOR_ADDRESS: address,
        ADMIN_KEY_HASH: 'ab'.repeat(28),
      }),
      [],
    )
    t.same(problemsOf({ ...preprod, NODE_ROLE: 'tx-processor' }), [])
    t.same(
      problemsOf({ NETWORK: 'preprod' }),
      [],
      'a devnet of its own asks for no keys, whatever the ledger is called',
    )
  },
)

t.test('a secret can come from a file, and is never shown', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-secret-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const path = join(directory, 'url')
  await writeFile(path, 'redis://:opensesame@localhost:6379\n')
  t.equal(readSettings({ REDIS_URL_FILE: path }).REDIS_URL, 'redis://:opensesame@localhost:6379')

  await writeFile(path, 'http://:opensesame@localhost')
  t.notMatch(problemsOf({ REDIS_URL_FILE: path }).join(), 'opensesame')
  t.notMatch(problemsOf({ DATABASE_URL: 'opensesame' }).join(), 'opensesame')
})

t.test('an address is shown without user, password and parameters', async (t) => {
  for (const [url, shown] of [
    ['postgres://me:opensesame@db:5432/ledger?sslpassword=x', 'postgres://***@db:5432/ledger'],
    ['redis://:opensesame@localhost:6379/', 'redis://***@localhost:6379'],
    ['redis://localhost', 'redis://localhost'],
    ['postgres://a:b@h1:1,h2:2/x', '(an address that cannot be shown)'],
  ] as const) {
    t.equal(maskedUrl(url), shown)
  }
})

t.test('the table has a row for each setting of the schema', async (t) => {
  const rows = settingsTable().trim().split('\n').slice(2)
  t.same(
    rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1]),
    Object.keys(settingsSchema.properties),
  )
  t.match(settingsTable(), /\| `PORT` \| `3000` \| Port to listen on/)
  t.match(settingsTable(), /\| `REDIS_URL`, `REDIS_URL_FILE` \| unset \| /)
  for (const row of rows) t.equal(row.replaceAll('\\|', '').split('|').length, 5, row)
})
