import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createDevnet,
  type DevnetOptions,
  defaultParameters,
  devnetApis,
  testGenesis,
} from '@ratatosk/devnet'
import { openStore } from '@ratatosk/store'
import {
  databaseUrl,
  freePort,
  inDatabase,
  ownPostgres,
  ownRedis,
  randomName,
  redisUrl,
  removeKeys,
  schemaDigest,
  whyMissing,
  withRedis,
} from '@ratatosk/test-kit'
import { fastify } from 'fastify'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readSettings } from '../settings/read.js'
import { takeDataDirectory } from '../storage/data-directory.js'
import { watchPeers } from '../work/start-work.js'
import { checkEnvironment, serverFindings } from './check-environment.js'
import { checkPeers, type NodeFinding } from './checks.js'

const phrase = `${'abandon '.repeat(23)}art`
const withoutServices = await whyMissing('PostgreSQL', 'Redis')

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-check-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function check(
  environment: Readonly<Record<string, string>>,
  clock: () => number = Date.now,
): Promise<readonly NodeFinding[]> {
  const directory = await temporaryDirectory()
  const settings = readSettings({ PORT: '0', DATA_DIR: join(directory, 'data'), ...environment })
  const findings = await checkEnvironment(settings, { clock })
  expect(await readdir(directory)).toEqual([])
  return findings
}

/** A failure, or a warning, by its subject. */
function faultsOf(findings: readonly NodeFinding[]): Readonly<Record<string, string>> {
  const faults = findings.filter(({ status }) => status !== 'ok')
  return Object.fromEntries(faults.map(({ subject, message }) => [subject, message]))
}

/** A devnet behind an HTTP provider, with the settings that name it. */
async function providerOf(options: DevnetOptions) {
  const devnet = await createDevnet(options)
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(async () => {
    await server.close()
    await devnet.close()
  })
  await server.register(devnetApis, { devnet, paths: { kupo: false, ogmios: false } })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return { devnet, settings: { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: `${url}/blockfrost/api/v0` } }
}

const preprod = {
  NETWORK: 'preprod',
  OPERATOR_TOKEN: 'secret',
  OPERATOR_SEED_PHRASE: phrase,
  ADMIN_KEY_HASH: 'ab'.repeat(28),
  DEPLOYMENT_OUTPUT: `${'00'.repeat(31)}01#0`,
}

test('finds no fault with the defaults', async () => {
  const findings = await check({})
  expect(findings.map(({ subject, status }) => [subject, status])).toEqual([
    ['port', 'ok'],
    ['data directory', 'ok'],
    ['layer 1', 'ok'],
    ['clock', 'ok'],
  ])
})

test('names every part that does not answer, with what to do, and no password', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const closed = await freePort()
  const faults = faultsOf(
    await check({
      PORT: String(typeof address === 'object' ? address?.port : undefined),
      DATABASE_URL: `postgres://me:hidden@127.0.0.1:${closed}/ratatosk`,
      REDIS_URL: `redis://me:hidden@127.0.0.1:${closed}`,
      LAYER1_PROVIDER: 'blockfrost',
      BLOCKFROST_URL: `http://127.0.0.1:${closed}`,
    }),
  )
  expect(faults).toEqual({
    port: expect.stringContaining('another process listens on this port. Stop it, or set another PORT'),
    PostgreSQL: expect.stringContaining('no answer: start PostgreSQL, or correct DATABASE_URL.'),
    Redis: expect.stringContaining('Redis is not reachable. Start Redis, or correct REDIS_URL.'),
    'layer 1': expect.stringContaining('Start it, or correct BLOCKFROST_URL: '),
  })
  expect(JSON.stringify(faults)).not.toContain('hidden')
})

test('names a file that the settings name and that is missing', async () => {
  const faults = faultsOf(await check({ GENESIS_FILE: '/nowhere/genesis.json' }))
  expect(faults.settings).toContain('GENESIS_FILE')
})

test('names settings that give no contracts', async () => {
  const included = new URL('../../parameters/devnet.json', import.meta.url)
  const parameters = JSON.parse(await readFile(included, 'utf8'))
  const file = join(await temporaryDirectory(), 'parameters.json')
  await writeFile(file, JSON.stringify({ ...parameters, protocol_major_ver: 12 }))
  const faults = faultsOf(await check({ PROTOCOL_PARAMETERS_FILE: file, VERDICT_POLICIES: 'transaction' }))
  expect(faults.settings).toContain('VERDICT_POLICIES names transaction')
})

test('names a data directory that is a file', async () => {
  const file = join(await temporaryDirectory(), 'file')
  await writeFile(file, '')
  expect(faultsOf(await check({ DATA_DIR: join(file, 'data') }))).toEqual({
    'data directory': expect.stringContaining(`"${file}" is not a directory. Set another DATA_DIR.`),
  })
})

test.skipIf(withoutServices)('asks PostgreSQL and Redis, and creates nothing in them', async () => {
  const schema = randomName()
  const environment = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema }
  const findings = await check({ ...environment, REDIS_URL: redisUrl, QUEUE_PREFIX: schema })
  const failed = findings.filter(({ status }) => status === 'failed')
  expect(failed.filter(({ subject }) => subject !== 'Redis')).toEqual([])
  expect(findings.find(({ subject }) => subject === 'clock')?.message).toBe('agrees with PostgreSQL')
  expect(await schemaDigest(schema)).toEqual({})

  const readOnly = `${databaseUrl}?options=-c%20default_transaction_read_only%3Don`
  expect(faultsOf(await check({ ...environment, DATABASE_URL: readOnly })).PostgreSQL).toContain(
    'the server is read-only: name the primary server',
  )
  const missing = databaseUrl.replace(/\/[^/]*$/, `/${schema}`)
  expect(faultsOf(await check({ ...environment, DATABASE_URL: missing })).PostgreSQL).toContain(
    'the database does not exist: create it',
  )
})

test.skipIf(withoutServices)('a sequencer may do without a data directory, which is said', async () => {
  const environment = { NODE_ROLE: 'sequencer', DATABASE_URL: databaseUrl, DATABASE_SCHEMA: randomName() }
  const found = async (DATA_DIR: string) =>
    (await check({ ...environment, DATA_DIR })).find(({ subject }) => subject === 'data directory')
  const directory = await temporaryDirectory()
  expect(await found(join(directory, 'data'))).toMatchObject({ status: 'ok' })
  expect(await found('/dev/null/data')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/is not a directory\. Set another DATA_DIR\. .*output trie is in memory/),
  })
  const { path, release } = await takeDataDirectory(directory)
  onTestFinished(release)
  expect(await found(path)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(new RegExp(`the process ${process.pid} uses .*output trie is in memory`)),
  })
  const processor = await check({ ...environment, NODE_ROLE: 'tx-processor' })
  expect(processor.map(({ subject }) => subject)).not.toContain('data directory')
})

test.skipIf(withoutServices)('names a port of the devnet that another program has taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const port = String(typeof address === 'object' ? address?.port : undefined)
  const schema = randomName()
  const environment = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema, DEVNET_PORT: port }
  const found = async (others: Readonly<Record<string, string>> = {}) =>
    (await check({ ...environment, ...others })).find(({ subject }) => subject === 'devnet port')
  expect(await found()).toEqual({
    subject: 'devnet port',
    status: 'failed',
    message: expect.stringMatching(
      `^DEVNET_PORT is ${port}: another process listens on this port. Stop it, or`,
    ),
  })
  expect(await found({ DEVNET_PORT: await freePort() })).toMatchObject({ status: 'ok' })
  const OPERATOR_ADDRESS = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'
  expect(await found({ NODE_ROLE: 'api', OPERATOR_ADDRESS })).toBeUndefined()

  onTestFinished(() => inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  const store = await openStore({ url: databaseUrl, schema })
  onTestFinished(() => store.close())
  await store.leases.hold('devnet-address', `http://127.0.0.1:${port}`, 60_000)
  expect(await found()).toMatchObject({ status: 'ok', message: expect.stringContaining('would stand by') })
  expect(await found({ DEVNET_PORT: await freePort() })).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(`hosts the devnet at http://127.0.0.1:${port}: .*Set the same port`),
  })
})

test('names a wrong password of PostgreSQL', async (context) => {
  const directory = await temporaryDirectory()
  const access = join(directory, 'pg_hba.conf')
  await writeFile(access, 'host all all 127.0.0.1/32 scram-sha-256\n')
  await chmod(directory, 0o755)
  const server = await ownPostgres({ fsync: 'off', hba_file: access })
  if (server === undefined) return context.skip()
  onTestFinished(() => server.close())
  const url = server.url.replace('postgres@', 'postgres:wrong@')
  expect(faultsOf(await check({ DATABASE_URL: url })).PostgreSQL).toContain(
    'wrong user or password: correct DATABASE_URL.',
  )
})

test('names a wrong password of Redis, or one that lacks', async (context) => {
  const server = await ownRedis('noeviction')
  if (server === undefined) return context.skip()
  onTestFinished(server.close)
  const redis = new Redis(server.url)
  await redis.config('SET', 'requirepass', 'right')
  redis.disconnect()
  for (const url of [server.url, `${server.url}/7`, server.url.replace('redis://', 'redis://:wrong@')])
    expect(faultsOf(await check({ REDIS_URL: url })).Redis, url).toMatch(/: wrong user or password: correct/)
})

test('a node that runs is no fault, and what it uses is named', async () => {
  const directory = await temporaryDirectory()
  const { path, release } = await takeDataDirectory(join(directory, 'data'))
  onTestFinished(release)
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  server.get('/health/live', (_, reply) => reply.header('x-request-id', '1').send({ status: 'ok' }))
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const findings = await check({ PORT: port, DATA_DIR: path })
  expect(findings.slice(0, 2)).toEqual([
    { subject: 'port', status: 'warning', message: expect.stringContaining(`a node runs on port ${port}`) },
    {
      subject: 'data directory',
      status: 'warning',
      message: expect.stringContaining(`the process ${process.pid} uses ${path}`),
    },
  ])
})

test('judges what a server says of itself', () => {
  const server = { version: 150_004, isReadOnly: false, mayCreate: true, time: 0, warnings: [] }
  expect(faultsOf(serverFindings('here', server))).toEqual({})
  expect(faultsOf(serverFindings('here', { ...server, version: 120_018 })).PostgreSQL).toContain(
    'PostgreSQL 12 is too old: update the server to 13 or later.',
  )
  expect(faultsOf(serverFindings('here', { ...server, mayCreate: false })).PostgreSQL).toContain(
    'GRANT CREATE ON DATABASE',
  )
})

test('names a Redis that evicts', async (context) => {
  const server = await ownRedis('allkeys-lru')
  if (server === undefined) return context.skip()
  onTestFinished(server.close)
  const findings = await check({ REDIS_URL: server.url })
  expect(findings.filter(({ subject }) => subject === 'Redis')).toEqual([
    { subject: 'Redis', status: 'warning', message: expect.stringContaining('set "appendonly yes"') },
    {
      subject: 'Redis',
      status: 'failed',
      message: expect.stringContaining('set "maxmemory-policy noeviction"'),
    },
  ])
})

test.skipIf(withoutServices)('names a database that Redis does not have', async () => {
  const url = new URL('/99', redisUrl)
  expect(faultsOf(await check({ REDIS_URL: url.href })).Redis).toMatch(
    /Redis refuses database 99 \(ERR .*\)\. Correct the database at the end of REDIS_URL, or omit it/,
  )
})

test.skipIf(withoutServices)('names a queue of another ledger', async () => {
  const [prefix, schema] = [randomName(), randomName()]
  onTestFinished(async () => {
    await removeKeys(prefix)
    await inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  })
  const store = await openStore({ url: databaseUrl, schema })
  const id = await store.ledgerId().finally(() => store.close())
  const found = async (environment: Readonly<Record<string, string>>) => {
    const findings = await check({ REDIS_URL: redisUrl, QUEUE_PREFIX: prefix, ...environment })
    const failed = findings.filter(({ subject, status }) => subject === 'Redis' && status === 'failed')
    return failed.map(({ message }) => message).join()
  }
  const same = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema }
  const typo = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: randomName() }
  const refusal = /belongs to another ledger than the one in .* or set another QUEUE_PREFIX/
  for (const environment of [same, typo, {}]) expect(await found(environment)).not.toMatch(refusal)

  await withRedis((redis) => redis.set(`${prefix}:ledger`, id))
  expect(await found(same)).not.toMatch(refusal)
  for (const environment of [typo, {}]) expect(await found(environment)).toMatch(refusal)
  expect(await found({ ...typo, QUEUE_PREFIX: randomName() })).not.toMatch(refusal)
})

test('names a provider of another network', async () => {
  const { settings } = await providerOf({ blockEveryMs: 0 })
  expect(faultsOf(await check({ ...preprod, ...settings }))['layer 1']).toMatch(
    /NETWORK is preprod: correct NETWORK or BLOCKFROST_URL\.$/,
  )
})

test('names a provider that does not run the scripts', async () => {
  const { settings } = await providerOf({ blockEveryMs: 0, parameters: defaultParameters('10') })
  expect(faultsOf(await check(settings))['layer 1']).toMatch(
    /has ledger version 10, and the contracts need 11\. Use a network, or a devnet, of that version\.$/,
  )
})

test('names a provider that is behind', async () => {
  let now = Date.now() - 3_600_000
  const { devnet, settings } = await providerOf({ blockEveryMs: 0, clock: { now: () => now } })
  await devnet.produceBlock()
  now = Date.now()
  expect(faultsOf(await check(settings))['layer 1']).toMatch(
    /is behind: its newest block is 60 minutes old\. Wait/,
  )
})

test('names an empty wallet, and a clock that is off', async () => {
  const { devnet, settings } = await providerOf({ blockEveryMs: 0 })
  await devnet.produceBlock()
  expect(faultsOf(await check(settings))).toEqual({})
  const slow = () => Date.now() - 60_000
  expect(faultsOf(await check({ ...settings, OPERATOR_SEED_PHRASE: phrase }, slow))).toEqual({
    wallet: expect.stringMatching(/^The operator's wallet is empty: send the bond of 500 ada .*addr_test1/),
    clock: expect.stringMatching(/^The clock of this machine is (59|60|61) s behind layer 1: .* NTP/),
  })
})

test('warns of a wallet that cannot pay for answers, where there is a summons', async () => {
  const genesis = testGenesis({ outputs: 1, lovelace: 2_000_000_000n })
  const { devnet, settings } = await providerOf({ blockEveryMs: 0, genesis })
  await devnet.produceBlock()
  const own = { ...settings, OPERATOR_BOND: '130000000', SLASH_PENALTY: '115000000' }
  expect(faultsOf(await check(own))).toEqual({})
  const poor = { ...own, OPERATOR_BOND: '400000000' }
  expect(faultsOf(await check({ ...poor, VERDICT_POLICIES: 'ledger' }))).toEqual({})
  expect(faultsOf(await check(poor))).toEqual({
    wallet: expect.stringMatching(/^2000 ada at addr_test1\S+: keep \d+ ada for answers, or questions/),
  })
})

test('each peer must have the routes of an archivist', async () => {
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  const own = 'ab'.repeat(28)
  server.get('/archivist/block/:id/header', async ({ params }, reply) => {
    const { id } = params as { id: string }
    return id === own ? { hash: own } : reply.code(404).send({ error: `Block not found: ${id}` })
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const peers = [`${url}/archivist`, url, `http://127.0.0.1:${await freePort()}/archivist`]
  const { settings } = await providerOf({ blockEveryMs: 0 })
  const findings = await check({ ...settings, NODE_ROLE: 'archivist', ARCHIVIST_PEERS: peers.join(',') })
  expect(findings.filter(({ subject }) => subject === 'peers')).toEqual([
    { subject: 'peers', status: 'ok', message: peers[0] },
    {
      subject: 'peers',
      status: 'warning',
      message: expect.stringContaining('is no archivist, it answers 404'),
    },
    { subject: 'peers', status: 'warning', message: expect.stringContaining('does not answer') },
  ])
  const wrong = { ...settings, NODE_ROLE: 'archivist', ARCHIVIST_PEERS: url }
  expect(faultsOf(await check(wrong)).peers).toMatch(/it answers 404\. .*ends with .*\/archivist/)

  const of = (merged: string) =>
    checkPeers({ NODE_ROLE: 'watcher', ARCHIVIST_PEERS: [`${url}/archivist`] }, 5000, merged)
  expect(await of(own)).toMatchObject([{ status: 'ok' }])
  const foreign = /does not have block (?:cd)+, which is merged on layer 1\. Name a peer of this ledger/
  expect(await of('cd'.repeat(28))).toMatchObject([
    { status: 'failed', message: expect.stringMatching(foreign) },
  ])
})

test('a process says once that a peer does not serve, and goes on', async () => {
  const settings = {
    NODE_ROLE: 'watcher' as const,
    ARCHIVIST_PEERS: [`http://127.0.0.1:${await freePort()}`],
    HEALTH_PROBE_TIMEOUT_MS: 1000,
  } satisfies Parameters<typeof watchPeers>[0]
  const log = { info: vi.fn(), warn: vi.fn() }
  const peers = watchPeers(settings, undefined, log)
  await expect.poll(() => peers.silent()).toBe(1)
  await peers.read()
  expect(log.warn.mock.calls).toEqual([
    [{}, expect.stringMatching(/^The peer http:.* does not answer\. Start it, or correct ARCHIVIST_PEERS/)],
  ])
})
