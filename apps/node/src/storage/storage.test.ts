import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blockVersion } from '@ratatosk/block'
import { openEmbedded } from '@ratatosk/database/embedded'
import { openRoots } from '@ratatosk/sequencer/roots'
import { openStore, readStored } from '@ratatosk/store'
import {
  createPGlite,
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  SourceChain,
  schemaDigest,
  whyMissing,
  withRedis,
} from '@ratatosk/test-kit'
import { recordedLog } from '@ratatosk/test-kit/http'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { loadContext, type NodeContext } from '../context.js'
import { checkStored } from '../layer1/check-stored.js'
import { readSettings } from '../settings/read.js'
import { cacheDirectory, logQueueErrors, openRebuildable, openStorage, type Storage } from './open-storage.js'
import { trackReplicaLag } from './replica.js'
import { atLedgerVersion, contextAt, readEmbedded, type StoredHead, silent } from './stored-ledger.js'

describe('check stored', () => {
  it('takes an archive of this block version, and refuses any other', async () => {
    const pglite = await createPGlite()
    onTestFinished(() => pglite.close())
    const place = { pglite, schema: 'ratatosk' }
    const { archive } = await openStore(place)
    const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', DATA_DIR: "/old node's" }), {})
    const check = () => readStored(place, async (stored) => checkStored(context, stored as StoredHead))
    await check()

    const chain = new SourceChain()
    for (const version of [blockVersion, blockVersion - 1n]) {
      const { height, headerHash, header } = await chain.commit(1, { blockVersion: version })
      if (version !== blockVersion) await check()
      await archive.put([{ headerHash, header, height, merged: false, body: Uint8Array.of(0) }])
    }
    await expect(check()).rejects.toMatchObject({
      code: 'NODE_DATABASE',
      message: expect.stringMatching(
        new RegExp(
          `^The archive in .*old node's" has blocks of block version ${blockVersion - 1n}, ` +
            'and this node has ' +
            `version ${blockVersion}\\. Nothing was changed\\. .*another DATA_DIR`,
        ),
      ),
    })
  })

  it('reads a copy of a store behind a link', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ratatosk-stored-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const at = (name: string) => join(folder, name)
    const [original, link, copies] = [at('original'), at('postgresql'), at('copies')]
    const { place, close } = await openEmbedded(original, { log: silent })
    await openStore({ ...place, schema: 'ratatosk' }).then((store) => store.close())
    await close()
    await symlink(join(original, 'postgresql'), link)
    await mkdir(copies)
    const control = () => readFile(join(link, 'global', 'pg_control'))
    const before = await control()
    const isStored = await readEmbedded(link, 'ratatosk', copies, async (stored) => stored !== undefined)
    expect(isStored).toBe(true)
    expect(await control()).toEqual(before)
    expect(await readdir(copies)).toEqual([])
  })
})

test('beside PostgreSQL, a data directory that cannot be used is a warning', async () => {
  const { stream, records } = recordedLog()
  const context = {
    settings: { DATA_DIR: '/dev/null/data' },
    log: pino({}, stream),
    onClose: () => undefined,
  }
  const directory = await cacheDirectory(context as unknown as NodeContext, {} as Storage)
  expect(directory).toBeUndefined()
  expect(records()).toEqual([
    expect.objectContaining({
      level: 40,
      msg: expect.stringMatching(/^DATA_DIR is "\/dev\/null\/data": it cannot .* output trie is in memory/),
    }),
  ])
})

describe('ledger version', () => {
  const version11 = fileURLToPath(new URL('../../parameters/preprod-11.json', import.meta.url))

  const load = (environment: Record<string, string>) =>
    loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})

  it.each([
    ['by default', {}, 11],
    ['as LEDGER_VERSION says', { LEDGER_VERSION: '10' }, 10],
    ['as the file of parameters says', { PROTOCOL_PARAMETERS_FILE: version11 }, 11],
  ] as const)('a new deployment begins with a version %s, and keeps it', async (_, environment, major) => {
    const store = await openTestStore(openStore)
    const context = await load(environment)
    expect(context.parameters.ledgerVersion.major).toBe(major)
    expect(await atLedgerVersion(context, store)).toBe(context)
    expect(await atLedgerVersion(await load({ LEDGER_VERSION: String(major) }), store)).toBeDefined()

    const kept = await atLedgerVersion(await load({}), store)
    expect(kept.parameters).toEqual(context.parameters)
  })

  it('loads and logs the version of a deployment once', async () => {
    const { lines, stream } = recordedLog()
    const context = { ...(await load({})), log: pino({}, stream) }
    expect(await contextAt(context, 10)).toBe(await contextAt(context, 10))
    expect(lines).toHaveLength(1)
  })

  it('refuses another version than that of the deployment', async () => {
    const store = await openTestStore(openStore)
    await atLedgerVersion(await load({ LEDGER_VERSION: '10' }), store)
    const refusal = async (environment: Record<string, string>, reason: string) =>
      expect(atLedgerVersion(await load(environment), store)).rejects.toMatchObject({
        code: 'NODE_DATABASE',
        message: expect.stringMatching(
          `^The deployment in this database began with ledger version 10 and keeps it, but ${reason}, ` +
            'or begin a new deployment with another DATABASE_SCHEMA',
        ),
      })
    await refusal({ LEDGER_VERSION: '11' }, 'LEDGER_VERSION is 11: unset it')
    await refusal(
      { PROTOCOL_PARAMETERS_FILE: version11 },
      'PROTOCOL_PARAMETERS_FILE has parameters of version 11: name a file of version 10',
    )
  })

  it('asks for the parameters of a version that the node does not include', async () => {
    const store = await openTestStore(openStore)
    await store.ledgerVersion(9)
    await expect(atLedgerVersion(await load({}), store)).rejects.toThrow(
      /The ledger version is 9 on devnet.*PROTOCOL_PARAMETERS_FILE\.$/,
    )
  })
})

describe('open storage', () => {
  it('checks an embedded store at each start but the first; a refusal changes nothing', async () => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'ratatosk-storage-'))
    onTestFinished(() => rm(DATA_DIR, { recursive: true }))
    let checks = 0
    const start = async (check: () => Promise<void>) => {
      const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', DATA_DIR }), {})
      await openStorage(context, check).finally(() => context.server.close())
    }
    await start(async () => void checks++)
    expect(checks).toBe(0)
    await expect(start(() => Promise.reject(new Error('another deployment')))).rejects.toThrow('another')
    await start(async () => void checks++)
    expect(checks).toBe(1)
    expect(await readdir(DATA_DIR)).toEqual(['postgresql'])
  })
})

describe.skipIf(await whyMissing('PostgreSQL', 'Redis'))('a queue in Redis', () => {
  async function start(environment: Readonly<Record<string, string>>): Promise<void> {
    const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})
    await openStorage(context, async () => undefined).finally(() => context.server.close())
  }

  /** Names that are removed with what is stored under them. */
  function newNames(count: number): string[] {
    const names = Array.from({ length: count }, () => randomName())
    onTestFinished(async () => {
      for (const name of names) {
        for (const schema of [name, `${name}_queue`])
          await inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
        await removeKeys(name)
      }
    })
    return names
  }

  const refusal = (message: RegExp) => ({ code: 'NODE_QUEUE', message: expect.stringMatching(message) })

  it('stays with the ledger that took it first; a refusal creates nothing', async () => {
    const [mine = '', typo = '', other = ''] = newNames(3)
    const place = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: mine }
    await start({ ...place, DATABASE_SCHEMA: mine })
    const foreign = { ...place, DATABASE_SCHEMA: typo }
    await expect(start(foreign)).rejects.toMatchObject(
      refusal(
        new RegExp(
          `^QUEUE_PREFIX is "${mine}", but the queue in Redis with this prefix belongs to another ledger ` +
            `than the one in .*, schema ${typo}\\. It was not touched\\. Correct DATABASE_URL or ` +
            `DATABASE_SCHEMA, or set another QUEUE_PREFIX: the copy .* del "${mine}:ledger"`,
        ),
      ),
    )
    expect(await schemaDigest(typo)).toEqual({})
    await start({ ...place, DATABASE_SCHEMA: mine })

    await start({ ...foreign, QUEUE_PREFIX: other })
    await expect(start(foreign)).rejects.toMatchObject(refusal(/belongs to another ledger/))
    await withRedis((redis) => redis.del(`${mine}:ledger`))
    await inDatabase(`UPDATE ${typo}.deployment SET queue = NULL`)
    await start(foreign)
    await expect(start({ ...place, DATABASE_SCHEMA: mine })).rejects.toMatchObject(
      refusal(/belongs to another ledger/),
    )
  })

  it('is the one of the ledger: another one is refused, also by a check, until it is moved', async () => {
    const [mine = '', other = ''] = newNames(2)
    const place = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: mine }
    const first = { ...place, REDIS_URL: redisUrl, QUEUE_PREFIX: mine }
    await start(first)
    await start(first)
    const second = new URL('/1', redisUrl).href
    const wrong = [
      [place, "in the store's database"],
      [{ ...first, QUEUE_PREFIX: other }, `in database 0 of Redis, with prefix "${other}"`],
      [{ ...first, REDIS_URL: second }, `in database 1 of Redis, with prefix "${mine}"`],
    ] as const
    const message = (own: string) =>
      new RegExp(
        `schema ${mine} is in database 0 of Redis, with prefix "${mine}", but here it is ${own}: .*` +
          `UPDATE ${mine}\\.deployment SET queue = NULL.*In a copy of the database .*` +
          `UPDATE ${mine}\\.deployment SET ledger_id = gen_random_uuid\\(\\), queue = NULL`,
      )
    for (const [environment, own] of wrong) {
      await expect(start(environment)).rejects.toMatchObject(refusal(message(own)))
      const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})
      const check = readStored({ url: databaseUrl, schema: mine }, (stored) =>
        checkStored(context, stored as StoredHead),
      )
      await expect(check).rejects.toMatchObject(refusal(message(own)))
    }
    expect(await schemaDigest(`${mine}_queue`), 'a refusal creates no queue').toEqual({})
    const layer1 = { LAYER1_PROVIDER: 'blockfrost', BLOCKFROST_URL: 'http://127.0.0.1:1' }
    const archivist = { NODE_ROLE: 'archivist', ARCHIVIST_PEERS: 'http://127.0.0.1:1' }
    await start({ ...place, ...layer1, ...archivist })
    await inDatabase(`UPDATE ${mine}.deployment SET queue = NULL`)
    await start(place)
    await expect(start(first)).rejects.toMatchObject(refusal(/is in the store's database, but here/))
  })

  it('stays with an embedded ledger', async () => {
    const [prefix = ''] = newNames(1)
    const folders = await mkdtemp(join(tmpdir(), 'ratatosk-storage-'))
    onTestFinished(() => rm(folders, { recursive: true }))
    const place = { DATA_DIR: join(folders, 'one'), REDIS_URL: redisUrl, QUEUE_PREFIX: prefix }
    await start(place)
    await start(place)
    for (const other of [{ DATA_DIR: join(folders, 'two') }, { DATABASE_SCHEMA: 'two' }])
      await expect(start({ ...place, ...other })).rejects.toMatchObject(
        refusal(/belongs to another ledger .* Correct DATA_DIR or DATABASE_SCHEMA/),
      )
    expect(await readdir(folders)).toEqual(['one'])
  })

  it('is not in database 0 instead of one that Redis does not have', async () => {
    const [name = ''] = newNames(1)
    const place = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: name, QUEUE_PREFIX: name }
    await expect(start({ ...place, REDIS_URL: new URL('/99', redisUrl).href })).rejects.toMatchObject(
      refusal(/^The queue cannot be opened: Redis refuses database 99 .*Correct the database at the end of/),
    )
    expect(await schemaDigest(name)).toEqual({})
  })
})

describe('queue errors', () => {
  test('logs an error of a queue that repeats once in 30 seconds, and counts it', () => {
    const lines: unknown[] = []
    let time = 0
    const report = logQueueErrors(
      { warn: (fields, message) => void lines.push([fields, message]) },
      'Redis at redis://127.0.0.1:6379',
      () => time,
    )
    const message = 'Redis at redis://127.0.0.1:6379 failed in a call of the queue'
    const [refused, late] = [new Error('connect ECONNREFUSED'), new Error('Command timed out')]
    for (const err of [refused, refused, late, refused]) report(err)
    expect(lines.splice(0)).toEqual([
      [{ err: refused }, message],
      [{ err: late }, message],
    ])
    time = 30_000
    for (const err of [refused, refused]) report(err)
    expect(lines).toEqual([[{ err: refused, repeated: 2 }, message]])
  })
})

describe('rebuildable', () => {
  const lines: { readonly msg: string; readonly path: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })

  async function temporaryFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'ratatosk-rebuildable-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  test('moves damaged data aside, and opens them anew', async () => {
    const path = join(await temporaryFolder(), 'roots')
    const openIt = () => openRebuildable(path, (folder) => openRoots({ path: folder }), log)
    await (await openIt()).close()
    expect(lines).toEqual([])

    await truncate(join(path, 'data.mdb'), 100)
    await (await openIt()).close()
    expect(lines.splice(0)).toMatchObject([
      { path, movedTo: `${path}.damaged`, err: { message: expect.stringMatching(/damaged/) } },
    ])
    expect(existsSync(join(path, 'data.mdb'))).toBe(true)

    await rm(path, { recursive: true })
    await writeFile(path, 'a file')
    await (await openIt()).close()
    expect(lines.splice(0)).toMatchObject([
      { err: { message: expect.stringMatching(/it is a file, not a folder/) } },
    ])
    expect(await readFile(`${path}.damaged`, 'utf8')).toBe('a file')
  })

  test('leaves data alone for any other failure', async () => {
    const path = await temporaryFolder()
    const failure = new Error('no space left on device')
    await expect(openRebuildable(path, () => Promise.reject(failure), log)).rejects.toBe(failure)
    expect(existsSync(path)).toBe(true)
  })
})

function tracked() {
  const clock = { now: 0 }
  return { clock, lag: trackReplicaLag(() => clock.now) }
}

test('says nothing before the replica has replayed a position that is known', () => {
  const { lag } = tracked()
  lag.replayed(5n)
  expect(lag.ms()).toBeUndefined()
  lag.flushed(10n, 0)
  lag.replayed(9n)
  expect(lag.ms()).toBeUndefined()
})

test('an idle primary makes no lag, and a replica that stands still does', () => {
  const { clock, lag } = tracked()
  for (const at of [0, 1000, 2000]) {
    clock.now = at
    lag.flushed(10n, at)
    lag.replayed(10n)
    expect(lag.ms()).toBe(0)
  }
  lag.flushed(20n, 3000)
  lag.flushed(30n, 4000)
  clock.now = 9000
  lag.replayed(10n)
  expect(lag.ms()).toBe(7000)
  lag.replayed(20n)
  expect(lag.ms()).toBe(6000)
  lag.replayed(35n)
  expect(lag.ms()).toBe(5000)
})

test('a day without a replica that replays takes little memory, and is known as such', () => {
  const { clock, lag } = tracked()
  lag.flushed(0n, 0)
  lag.replayed(0n)
  for (let n = 1; n <= 86_400; n++) lag.flushed(BigInt(n), n * 1000)
  clock.now = 86_400_000
  expect(lag.ms()).toBe(86_400_000)
  lag.replayed(86_400n)
  expect(lag.ms()).toBeLessThan(600_000)
})

test('forgets the positions of a former primary', () => {
  const { clock, lag } = tracked()
  lag.flushed(100n, 0)
  lag.flushed(50n, 1000)
  clock.now = 2000
  lag.replayed(50n)
  expect(lag.ms()).toBe(1000)
})
