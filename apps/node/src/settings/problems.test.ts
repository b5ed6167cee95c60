import { expect, test } from 'vitest'
import { verdictsOf } from './derived.js'
import { readSettings } from './read.js'
import { phrase, preprod, problemsOf } from './test/problems-of.js'

const portRange = 'it must be a whole number from 0 to 65535.'

test.each<[Record<string, string>, string]>([
  ...['abc', '-1', '65536', '80.5', '0x50', '1e3', ' 80', 'true'].map(
    (PORT): [Record<string, string>, string] => [{ PORT }, `PORT is "${PORT}": ${portRange}`],
  ),
  [
    { NODE_ROLE: 'master' },
    'NODE_ROLE is "master": it must be one of all, api, reader, tx-processor, sequencer, archivist, watcher.',
  ],
  [
    { NODE_ROLE: 'api' },
    'NODE_ROLE is "api" but DATABASE_URL is not set: only the roles "all", "archivist" and ' +
      '"watcher" can use the embedded store, which belongs to one process.',
  ],
  [
    { DATABASE_READ_URL: 'postgres://db/ledger' },
    'DATABASE_READ_URL is set but NODE_ROLE is "all": only the role "reader" reads from a replica.',
  ],
  [{ LAYER1_PROVIDER: 'blockfrost' }, 'LAYER1_PROVIDER is "blockfrost" but BLOCKFROST_URL is not set.'],
  [
    { BLOCKFROST_URL: 'cardano-preprod.blockfrost.io' },
    'BLOCKFROST_URL is "cardano-preprod.blockfrost.io": it must be a URL such as ' +
      'https://cardano-preprod.blockfrost.io/api/v0.',
  ],
  [{ AUTO_COMMIT: 'yes' }, 'AUTO_COMMIT is "yes": it must be true or false.'],
  [{ AUTO_INIT: '1' }, 'AUTO_INIT is "1": it must be true or false.'],
  [
    { OPERATOR_SEED_PHRASE: 'opensesame' },
    'OPERATOR_SEED_PHRASE has an invalid value: it must be a BIP-39 phrase of 24 words.',
  ],
  [
    { PROTOCOL: 'MBLCX' },
    'PROTOCOL is "MBLCX": it must be up to 16 of A-Z, 0-9 and _, not starting with MBLC.',
  ],
  [
    { ADMIN_KEY_HASH: 'ab'.repeat(28), ADMIN_SCRIPT: 'cd'.repeat(28) },
    'ADMIN_KEY_HASH and ADMIN_SCRIPT are both set: the administrator is a key or a script.',
  ],
  [
    { ADMIN_KEY_HASH: '00'.repeat(28) },
    'The hash of the administrator is zero, which belongs to no key: set ADMIN_RENOUNCED=true for a ' +
      'deployment without an administrator.',
  ],
  [
    { ADMIN_RENOUNCED: 'true', ADMIN_KEY_HASH: 'ab'.repeat(28) },
    'ADMIN_RENOUNCED is true but ADMIN_KEY_HASH is set: the deployment has an administrator or none.',
  ],
  [
    { ADMIN_RENOUNCED: 'true', VERDICT_POLICIES: 'none' },
    'ADMIN_RENOUNCED is true but VERDICT_POLICIES lacks ledger and transaction and witness: no one could ' +
      'remove a block with such a fraud. Set VERDICT_POLICIES=ledger,transaction,witness.',
  ],
  [
    { ADMIN_RENOUNCED: 'true', VERDICT_POLICIES: 'ledger,witness' },
    'ADMIN_RENOUNCED is true but VERDICT_POLICIES lacks transaction: no one could remove a block with such ' +
      'a fraud. Set VERDICT_POLICIES=ledger,transaction,witness.',
  ],
  [
    { ADMIN_SEED_PHRASE: 'open, sesame' },
    'ADMIN_SEED_PHRASE has an invalid value: it must be a BIP-39 phrase of 24 words, or several ' +
      'separated by commas.',
  ],
  [{ FAUCET_LAYER: '3' }, 'FAUCET_LAYER is "3": it must be one of 1, 2.'],
  [
    { NODE_ROLE: 'archivist', LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: 'http://127.0.0.1:1337' },
    'NODE_ROLE is "archivist" but ARCHIVIST_PEERS is not set: it names the peers that serve block ' +
      'bodies, such as http://127.0.0.1:3000/archivist.',
  ],
  [
    { NODE_ROLE: 'watcher', ARCHIVIST_PEERS: 'http://127.0.0.1:3000/archivist' },
    'NODE_ROLE is "watcher" and LAYER1_PROVIDER is "devnet": this role has its own store, so it cannot ' +
      'find a shared devnet. Start the node with DEVNET_PORT=1337, and this one with ' +
      'LAYER1_PROVIDER=blockfrost and BLOCKFROST_URL=http://127.0.0.1:1337/blockfrost/api/v0.',
  ],
  [{ NETWORK: 'Mainnet' }, 'NETWORK is "Mainnet": it must be one of devnet, preview, preprod, mainnet.'],
  [
    { ...preprod, NETWORK: 'mainnet', NODE_ROLE: 'tx-processor', GENESIS_FILE: 'genesis.json' },
    'GENESIS_FILE is set but NETWORK is "mainnet": a mainnet ledger starts empty.',
  ],
  [
    { DATABASE_URL: 'mysql://root:opensesame@db/x' },
    'DATABASE_URL has an invalid value: it must be a URL such as ' +
      'postgres://user:password@host:5432/database.',
  ],
  [
    { REDIS_URL: 'opensesame@localhost:6379' },
    'REDIS_URL has an invalid value: it must be a URL such as redis://user:password@host:6379/0.',
  ],
  [
    { REDIS_URL: 'redis://:opensesame@localhost:6379/seven' },
    'REDIS_URL has an invalid value: it must be a URL such as redis://user:password@host:6379/0.',
  ],
  [
    { REDIS_URL_FILE: '/nowhere' },
    'REDIS_URL_FILE is "/nowhere": the file cannot be read: it does not exist.',
  ],
  [
    { REDIS_URL_FILE: '/nowhere', REDIS_URL: 'redis://localhost' },
    'REDIS_URL and REDIS_URL_FILE are both set: set only one of them.',
  ],
  [
    { DATABASE_SCHEMA: 'a"; DROP' },
    'DATABASE_SCHEMA is "a\\"; DROP": it must be up to 55 of a-z, 0-9 and _, not starting with a digit.',
  ],
  [
    { QUEUE_PREFIX: 'a:b' },
    'QUEUE_PREFIX is "a:b": it must be up to 100 characters without white space, colons and braces.',
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
  [
    { PUBLIC_HOSTS: 'node.example,' },
    'PUBLIC_HOSTS is "node.example,": it must be host names or IP addresses without port, separated ' +
      'by commas.',
  ],
  [
    { PUBLIC_HOSTS: 'node.example, node.example:3000' },
    'PUBLIC_HOSTS names "node.example:3000": it must be a host name or an IP address without port.',
  ],
  [
    { CORS_ORIGIN: 'wallet.example' },
    'CORS_ORIGIN is "wallet.example": it must be origins such as https://wallet.example, separated ' +
      'by commas, or *.',
  ],
  [
    { CORS_ORIGIN: 'null' },
    'CORS_ORIGIN is "null": it must be origins such as https://wallet.example, separated by commas, or *.',
  ],
  [
    { CORS_ORIGIN: 'https://wallet.example/' },
    'CORS_ORIGIN is "https://wallet.example/": it must be origins such as https://wallet.example, ' +
      'separated by commas, or *.',
  ],
  [
    { CORS_ORIGIN: 'https://Wallet.example' },
    'CORS_ORIGIN names "https://Wallet.example": browsers send origins in lower case, without a ' +
      'default port.',
  ],
  [
    { CORS_ORIGIN: 'https://wallet.example:443' },
    'CORS_ORIGIN names "https://wallet.example:443": browsers send origins in lower case, without a ' +
      'default port.',
  ],
  [{ CORS_ORIGIN: '*, https://wallet.example' }, 'CORS_ORIGIN names * and others: * alone allows them all.'],
  [
    { ...preprod, NODE_ROLE: 'tx-processor', CORS_ORIGIN: '*' },
    'CORS_ORIGIN is * but NETWORK is "preprod": name the origins, except on the devnet.',
  ],
  [
    { OPERATOR_PEERS: 'http://a:3000,https://user:swordfish@b' },
    'OPERATOR_PEERS has a URL with a user: the URLs of peers are logged, and need no credentials.',
  ],
  [
    { OPERATOR_PEERS: 'node:3000' },
    'OPERATOR_PEERS is "node:3000": it must be URLs such as http://node:3000, separated by commas.',
  ],
  [{ LOG_FORMAT: 'xml' }, 'LOG_FORMAT is "xml": it must be one of pretty, json.'],
])('refuses %o with one message', (environment, problem) => {
  expect(problemsOf(environment)).toEqual([problem])
})

const operatorAddress = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'
const peers = { ARCHIVIST_PEERS: 'http://127.0.0.1:3000/archivist' }
const everyPolicy = 'ledger,transaction,witness'
const forReader = {
  OPERATOR_TOKEN: '',
  OPERATOR_ADDRESS: operatorAddress,
  ADMIN_KEY_HASH: 'ab'.repeat(28),
}
const noAdministrator = /neither ADMIN_KEY_HASH nor ADMIN_SCRIPT nor ADMIN_SEED_PHRASE is set/

test.each<[string, Record<string, string>, readonly RegExp[]]>([
  ['all', {}, [/ OPERATOR_SEED_PHRASE is not set/, noAdministrator]],
  ['sequencer', {}, [/ OPERATOR_SEED_PHRASE is not set/, noAdministrator]],
  ['sequencer', { OPERATOR_SEED_PHRASE: phrase, ADMIN_KEY_HASH: 'ab'.repeat(28) }, []],
  ['all', { OPERATOR_SEED_PHRASE: phrase, ADMIN_SCRIPT: 'ab'.repeat(28) }, []],
  ['all', { OPERATOR_SEED_PHRASE: phrase, ADMIN_SEED_PHRASE: phrase }, []],
  ['all', { OPERATOR_SEED_PHRASE: phrase, ADMIN_RENOUNCED: 'true', VERDICT_POLICIES: everyPolicy }, []],
  ['all', { OPERATOR_SEED_PHRASE: phrase, ADMIN_RENOUNCED: 'true' }, []],
  [
    'all',
    { OPERATOR_SEED_PHRASE: phrase, ADMIN_SEED_PHRASE: phrase, DEPLOYMENT_OUTPUT: '' },
    [/ DEPLOYMENT_OUTPUT is not set/],
  ],
  ['api', {}, [/neither OPERATOR_ADDRESS nor OPERATOR_SEED_PHRASE is set/, noAdministrator]],
  ['api', { OPERATOR_ADDRESS: operatorAddress, ADMIN_KEY_HASH: 'ab'.repeat(28) }, []],
  [
    'reader',
    { OPERATOR_TOKEN: '' },
    [/ OPERATOR_ADDRESS is not set/, /neither ADMIN_KEY_HASH nor ADMIN_SCRIPT is set/],
  ],
  ['reader', { ...forReader }, []],
  ...(['OPERATOR', 'ADMIN', 'FAUCET', 'WATCHER'] as const).map(
    (name): [string, Record<string, string>, RegExp[]] => [
      'reader',
      { ...forReader, [`${name}_SEED_PHRASE`]: phrase },
      [new RegExp(`^${name}_SEED_PHRASE is set but NODE_ROLE is "reader".* set it for the role "\\w+"`)],
    ],
  ),
  [
    'reader',
    { ...forReader, FAUCET_TOKEN: 'a' },
    [/^FAUCET_TOKEN is set .* role "api" \(or "all"\) only\.$/],
  ],
  [
    'reader',
    { ...forReader, OPERATOR_TOKEN: 'a' },
    [/ role "api", "sequencer", "archivist" or "watcher" \(or "all"\) only\. .*METRICS_TOKEN/],
  ],
  ['tx-processor', {}, []],
  ['watcher', { ...peers, ADMIN_KEY_HASH: 'ab'.repeat(28) }, [/ WATCHER_SEED_PHRASE is not set/]],
  ['watcher', { ...peers, ADMIN_KEY_HASH: 'ab'.repeat(28), WATCHER_SEED_PHRASE: phrase }, []],
  ['archivist', { ...peers, ADMIN_KEY_HASH: 'ab'.repeat(28) }, []],
])('on a public network, the role %s with %o needs keys of its own', (role, keys, problems) => {
  const found = problemsOf({ ...preprod, NODE_ROLE: role, ...keys })
  expect(found).toEqual(problems.map((problem) => expect.stringMatching(problem)))
})

test.each([
  [{}, 'all'],
  [{ LAYER1_PROVIDER: 'devnet' }, 'all'],
  [{}, 'sequencer'],
  [{ LAYER1_PROVIDER: '' }, 'api'],
])('a public network with %o needs a provider of layer 1, role %s', (provider, role) => {
  const { LAYER1_PROVIDER: _, KUPO_URL, OGMIOS_URL, ...others } = preprod
  const keys = { OPERATOR_SEED_PHRASE: phrase, ADMIN_SEED_PHRASE: phrase }
  expect(problemsOf({ ...others, ...keys, ...provider, NODE_ROLE: role })).toEqual([
    'NETWORK is "preprod" but LAYER1_PROVIDER is "devnet", the default: set LAYER1_PROVIDER to ' +
      'blockfrost or kupmios, or NETWORK to devnet.',
  ])
})

test('a role that does not reach layer 1 needs no provider', () => {
  const settings = { NETWORK: 'preprod', NODE_ROLE: 'tx-processor', DATABASE_URL: 'postgres://db/ledger' }
  expect(problemsOf(settings)).toEqual([])
})

const watcher = {
  ...peers,
  NODE_ROLE: 'watcher',
  LAYER1_PROVIDER: 'blockfrost',
  BLOCKFROST_URL: 'http://127.0.0.1:9',
}
const preprodWatcher = {
  ...watcher,
  NETWORK: 'preprod',
  DEPLOYMENT_OUTPUT: `${'ab'.repeat(32)}#0`,
  ADMIN_KEY_HASH: 'ab'.repeat(28),
  WATCHER_SEED_PHRASE: phrase,
}
const preprodKeys = { OPERATOR_SEED_PHRASE: phrase, ADMIN_SEED_PHRASE: phrase }

test.each<[Record<string, string>, RegExp | undefined]>([
  [{ HOST: '0.0.0.0' }, /^HOST is "0\.0\.0\.0" but OPERATOR_TOKEN is not set/],
  [{ HOST: 'node.example' }, /^HOST is "node\.example" but OPERATOR_TOKEN is not set/],
  [{ HOST: '0.0.0.0', OPERATOR_OPEN: 'true' }, undefined],
  [{ HOST: '0.0.0.0', OPERATOR_TOKEN: 'open-sesame' }, undefined],
  [{ HOST: '::1' }, undefined],
  [{ HOST: '127.0.0.2' }, undefined],
  [{ HOST: 'localhost' }, undefined],
  [{ ...preprod, ...preprodKeys, OPERATOR_TOKEN: '' }, /^NETWORK is "preprod" but OPERATOR_TOKEN is not set/],
  [{ ...preprod, ...preprodKeys, OPERATOR_TOKEN: '', OPERATOR_OPEN: 'true' }, undefined],
  [{ ...preprod, NODE_ROLE: 'tx-processor', HOST: '0.0.0.0', OPERATOR_TOKEN: '' }, undefined],
  [
    { NODE_ROLE: 'reader', HOST: '0.0.0.0', SERVE_METRICS: 'true', DATABASE_URL: 'postgres://db/ledger' },
    /^HOST is "0\.0\.0\.0" but METRICS_TOKEN is not set/,
  ],
  [{ NODE_ROLE: 'reader', HOST: '0.0.0.0', DATABASE_URL: 'postgres://db/ledger' }, undefined],
  [{ ...watcher, HOST: '0.0.0.0' }, /^HOST is "0\.0\.0\.0" but OPERATOR_TOKEN is not set/],
  [{ ...watcher, HOST: '0.0.0.0', OPERATOR_TOKEN: 'open-sesame' }, undefined],
  [{ ...watcher, HOST: '0.0.0.0', VERDICT_POLICIES: 'ledger' }, undefined],
  [preprodWatcher, /^NETWORK is "preprod" but OPERATOR_TOKEN is not set/],
  [{ ...preprodWatcher, VERDICT_POLICIES: 'none' }, undefined],
])('%o needs a token for operator endpoints, or an explicit waiver', (environment, problem) => {
  expect(problemsOf(environment)).toEqual(problem === undefined ? [] : [expect.stringMatching(problem)])
})

test('refuses a short maturity window and a small bond off the devnet', () => {
  const problems = problemsOf({
    ...preprod,
    ...preprodKeys,
    MATURITY_WINDOW_MS: '3599999',
    OPERATOR_BOND: '99999999',
    SLASH_PENALTY: '99999999',
    VERDICT_POLICIES: 'none',
  })
  expect(problems).toEqual([
    expect.stringMatching(/^MATURITY_WINDOW_MS is 3599999 but .* at least 3600000/),
    expect.stringMatching(/^OPERATOR_BOND is 99999999 but .* at least 100000000/),
  ])
})

test('every network but mainnet has all policies and the summons by default', () => {
  const everywhere = { ...preprod, ...preprodKeys }
  for (const environment of [{}, everywhere, { ...everywhere, NETWORK: 'preview' }])
    expect(verdictsOf(readSettings(environment))).toEqual([...everyPolicy.split(','), 'summons'])
  const mainnet = { ...everywhere, NETWORK: 'mainnet' }
  expect(verdictsOf(readSettings(mainnet))).toEqual([])
  expect(problemsOf({ ...mainnet, VERDICT_POLICIES: 'ledger' })).toEqual([])
  expect(problemsOf({ ...mainnet, VERDICT_POLICIES: 'ledger,summons' })).toEqual([
    expect.stringMatching(/^VERDICT_POLICIES names summons but NETWORK is "mainnet"/),
  ])
})

test('a summons off the devnet needs time for answers, and a bond that an outage does not give away', () => {
  const named = { ...preprod, ...preprodKeys }
  const problem = (changes: Record<string, string>) => problemsOf({ ...named, ...changes })
  const short = { MATURITY_WINDOW_MS: '3600000' }
  expect(problem(short)).toEqual([
    expect.stringMatching(/^MATURITY_WINDOW_MS is 3600000 .* at least 86400000 \(1 day\).*VERDICT_POLICIES=/),
  ])
  expect(problem({ ...short, VERDICT_POLICIES: everyPolicy })).toEqual([])
  expect(problem({ MATURITY_WINDOW_MS: '86400000' })).toEqual([])
  expect(problem({ OPERATOR_BOND: '174000000', SLASH_PENALTY: '174000000' })).toEqual([])
  expect(problem({ OPERATOR_BOND: '174000001', SLASH_PENALTY: '174000001' })).toEqual([
    expect.stringMatching(
      /^OPERATOR_BOND is 174000001 .* at most 174000000, or a griefer who takes the bond/,
    ),
  ])
  expect(problem({ SLASH_PENALTY: '107857500' })).toEqual([])
  expect(problem({ SLASH_PENALTY: '107857499' })).toEqual([
    expect.stringMatching(
      /^SLASH_PENALTY is 107857499 .* at least 107857500, or a griefer who takes the bond/,
    ),
  ])
})

test('refuses a penalty below a tenth of the bond off the devnet', () => {
  const claims = { ...preprod, ...preprodKeys, VERDICT_POLICIES: everyPolicy, OPERATOR_BOND: '500000000' }
  const problem = (SLASH_PENALTY: string) => problemsOf({ ...claims, SLASH_PENALTY })
  expect(problem('49999999')).toEqual([
    'SLASH_PENALTY is 49999999 but NETWORK is "preprod": it must be at least 50000000 (a tenth of ' +
      'OPERATOR_BOND) off the devnet.',
  ])
  expect(problem('50000000')).toEqual([])
  expect(problemsOf({ SLASH_PENALTY: '0' })).toEqual([])
})

test('refuses a deployment without an administrator on mainnet', () => {
  const environment = { ...preprod, OPERATOR_SEED_PHRASE: phrase, ADMIN_RENOUNCED: 'true' }
  const policies = { VERDICT_POLICIES: everyPolicy }
  expect(problemsOf({ ...environment, ...policies })).toEqual([])
  expect(problemsOf({ ...environment, ...policies, NETWORK: 'mainnet' })).toEqual([
    expect.stringMatching(/^ADMIN_RENOUNCED is true but NETWORK is "mainnet"/),
  ])
})

test('refuses a penalty over the bond, on the devnet too', () => {
  expect(problemsOf({ OPERATOR_BOND: '1000000', SLASH_PENALTY: '1000001' })).toEqual([
    'SLASH_PENALTY is 1000001 but OPERATOR_BOND is 1000000: it must be at most the bond.',
  ])
  expect(readSettings({ OPERATOR_BOND: '1000000', SLASH_PENALTY: '1000000' }).SLASH_PENALTY).toBe(1_000_000)
})

test('names every fault at once, as far as it does not rest on another one', () => {
  const faulty = {
    ...{ OPERATOR_ADDRESS: 'addr1', ADMIN_KEY_HASH: 'zz', CORS_ORIGIN: '*', MAX_TX_SIZE: 'abc' },
    ...{ NODE_ROLE: 'api', DATABASE_ULR: 'postgres://db', FAUCET_TOKEN: 'a' },
    FAUCET_SEED_PHRASE: 'two words',
  }
  expect(problemsOf({ ...preprod, ...faulty })).toEqual([
    expect.stringMatching(/^DATABASE_ULR is not a setting\. Did you mean DATABASE_URL\?/),
    expect.stringMatching(/^MAX_TX_SIZE is "abc"/),
    expect.stringMatching(/^ADMIN_KEY_HASH is "zz"/),
    expect.stringMatching(/^FAUCET_SEED_PHRASE has an invalid value/),
    expect.stringMatching(/^OPERATOR_ADDRESS is "addr1": it must be a bech32 address/),
    expect.stringMatching(/^CORS_ORIGIN is \* but NETWORK is "preprod"/),
  ])
  expect(problemsOf({ NODE_ROLE: 'sequenser', CORS_ORIGIN: '*,http://a.b' })).toEqual([
    expect.stringMatching(/^NODE_ROLE is "sequenser"/),
  ])
})
