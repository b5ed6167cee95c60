import { spawnSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readdir, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys, withRedis } from '@ratatosk/test-kit'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { devnetFunds, openBuilder, outputsOf } from './layer2/layer2.js'
import { pay, receiver, withNode } from './test/nodes.js'
import { run } from './test/run.js'

vi.setConfig({ testTimeout: 120_000 })

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-backup-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** A client's view of these transactions, and everything that the receiver has. */
async function ledgerOf(url: string, hashes: readonly string[]) {
  const client = createClient(url)
  const found = await Promise.all(hashes.map((hash) => client.getTransaction({ tx_hash: hash })))
  const { txs } = await client.listTransactions({ address: receiver })
  return { found, txs, outputs: await outputsOf(client, receiver) }
}

test('an embedded store is saved while no node uses it, and restored to an empty folder', async () => {
  const folder = await temporaryFolder()
  const [DATA_DIR, saved] = [join(folder, 'data'), join(folder, 'saved')]
  const missing = await run(['backup', saved], { DATA_DIR })
  expect(missing).toMatchObject({ status: 1, error: expect.stringContaining('it has no store') })
  const [hashes, before, id] = await withNode({ DATA_DIR }, async (url, store) => {
    const paid = await pay(url, 3)
    const inUse = await run(['backup', join(folder, 'other')], { DATA_DIR })
    expect(inUse).toMatchObject({ status: 1, error: expect.stringMatching(/the process \d+ uses it/) })
    return [paid, await ledgerOf(url, paid), await store.ledgerId()] as const
  })
  await mkdir(saved, { mode: 0o755 })
  const { status, out } = await run(['backup', saved, '--json'], { DATA_DIR })
  expect(status).toBe(0)
  expect((await stat(saved)).mode & 0o777).toBe(0o700)
  const manifest = JSON.parse(out)
  expect(manifest).toMatchObject({
    format: 1,
    store: 'embedded',
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(manifest.rows['ratatosk.mempool_transactions']).toBe(3)
  // As a copy through object storage, which has no folders.
  expect(manifest.emptyFolders).toContain('pg_notify')
  for (const empty of manifest.emptyFolders) await rmdir(join(saved, 'postgresql', empty))
  const link = join(folder, 'link')
  await symlink(DATA_DIR, link)
  for (const inside of [join(DATA_DIR, 'postgresql', 'saved'), join(link, 'postgresql')])
    expect(await run(['backup', inside, '--json'], { DATA_DIR })).toMatchObject({
      status: 1,
      out: expect.stringMatching(/^\{.*NODE_BACKUP.*is inside/s),
    })
  const again = await run(['backup', saved], { DATA_DIR })
  expect(again).toMatchObject({ status: 1, error: expect.stringContaining('is not empty') })

  const occupied = await run(['restore', saved], { DATA_DIR })
  expect(occupied).toMatchObject({ status: 1, error: expect.stringContaining('it is not empty') })
  const others = join(folder, 'others')
  await mkdir(join(others, 'restoration', 'of a painting'), { recursive: true })
  await mkdir(join(others, 'notes'))
  expect(await run(['restore', saved], { DATA_DIR: others })).toMatchObject({
    status: 1,
    error: expect.stringContaining('it is not empty'),
  })
  expect((await readdir(others, { recursive: true })).sort()).toEqual([
    'notes',
    'restoration',
    'restoration/of a painting',
  ])
  const elsewhere = { DATA_DIR: join(folder, 'elsewhere') }
  // As a killed restoration leaves it.
  await mkdir(join(elsewhere.DATA_DIR, 'restoration', 'global'), { recursive: true })
  await expect(withNode(elsewhere, async () => undefined)).rejects.toMatchObject({
    code: 'NODE_DATA_DIR',
    message: expect.stringContaining('Run `ratatosk restore` again'),
  })
  expect(await run(['restore', saved], elsewhere)).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^Restored: embedded store, \d+ rows in \d+ tables/),
  })
  expect(await withNode(elsewhere, (url) => ledgerOf(url, hashes))).toEqual(before)
  expect(await withNode(elsewhere, (_, store) => store.ledgerId())).not.toBe(id)

  const foreign = join(saved, 'postgresql', 'global', 'link')
  await symlink(folder, foreign)
  expect(await run(['restore', saved], { DATA_DIR: join(folder, 'third') })).toMatchObject({
    status: 1,
    error: expect.stringContaining(`"${foreign}" is neither a file nor a folder`),
  })
  await rm(foreign)
  expect(await run(['restore', saved], { DATA_DIR: join(saved, 'data') })).toMatchObject({
    status: 1,
    error: expect.stringContaining('inside the backup'),
  })
  await appendFile(join(saved, 'postgresql', 'PG_VERSION'), ' ')
  const damaged = { DATA_DIR: join(folder, 'third') }
  expect(await run(['restore', saved], damaged)).toMatchObject({
    status: 1,
    error: expect.stringContaining('are not those that were saved'),
  })
  await expect(stat(join(damaged.DATA_DIR, 'postgresql'))).rejects.toThrow('ENOENT')
})

test('PostgreSQL is saved while a node runs, and restored when its schemas are gone', async (context) => {
  await needServices(context)
  const folder = await temporaryFolder()
  const saved = join(folder, 'saved')
  const schema = randomName()
  const drop = () =>
    inDatabase(
      ['', '_index', '_queue', '_devnet']
        .map((end) => `DROP SCHEMA IF EXISTS ${schema}${end} CASCADE`)
        .join(';'),
    )
  onTestFinished(drop)
  const place = { DATA_DIR: join(folder, 'data'), DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema }
  expect(await run(['backup', join(folder, 'none')], place)).toMatchObject({
    status: 1,
    error: expect.stringContaining(`has no schema ${schema}`),
  })
  const [hashes, before] = await withNode(place, async (url) => {
    const paid = await pay(url, 3)
    expect(await run(['backup', saved], place)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^Saved: postgresql store, \d+ rows/),
    })
    const result = await ledgerOf(url, paid)
    await pay(url, 1)
    return [paid, result]
  })
  expect(await run(['restore', saved], place)).toMatchObject({
    status: 1,
    error: expect.stringContaining(`has the schema ${schema}`),
  })
  await drop()
  expect(await run(['restore', saved], { DATA_DIR: place.DATA_DIR })).toMatchObject({
    status: 1,
    error: expect.stringContaining('set DATABASE_URL'),
  })
  expect(await run(['restore', saved], place)).toMatchObject({ status: 0, error: '' })
  expect(await withNode(place, (url) => ledgerOf(url, hashes))).toEqual(before)
})

test('no node starts on what a killed restoration left, and the next one replaces it', async (context) => {
  await needServices(context)
  const folder = await temporaryFolder()
  const [saved, name] = [join(folder, 'saved'), randomName()]
  await inDatabase(`CREATE DATABASE ${name}`)
  onTestFinished(() => inDatabase(`DROP DATABASE ${name} WITH (FORCE)`))
  const { href: DATABASE_URL } = new URL(`/${name}`, databaseUrl)
  const place = { DATA_DIR: join(folder, 'data'), DATABASE_URL }
  const id = await withNode(place, (_, store) => store.ledgerId())
  expect(await run(['backup', saved], place)).toMatchObject({ status: 0 })
  const drop = 'DROP SCHEMA ratatosk, ratatosk_index, ratatosk_queue, ratatosk_devnet CASCADE'
  await inDatabase(drop, DATABASE_URL)
  // Kills the restoration once the copy is in the database.
  const tool = join(folder, 'pg_restore')
  await writeFile(tool, `#!/bin/sh\nPATH=\${PATH#*:} pg_restore "$@" && kill -9 $PPID\n`, { mode: 0o755 })
  const main = new URL('../dist/main.js', import.meta.url).pathname
  const env = { ...place, PATH: `${folder}:${process.env.PATH}` }
  const { signal } = spawnSync(process.execPath, [main, 'restore', saved], { env })
  expect(signal).toBe('SIGKILL')
  await expect(withNode(place, async () => undefined)).rejects.toMatchObject({
    code: 'NODE_DATABASE',
    message: expect.stringMatching(/ratatosk_restore, of .* did not end\. Run `ratatosk restore` again/),
  })
  expect((await run(['check'], place)).out).toContain('a restoration that did not end')
  expect(await run(['restore', saved], place)).toMatchObject({ status: 0 })
  const restored = await withNode(place, (_, store) => store.ledgerId())
  expect(restored).not.toBe(id)

  // Another ledger may have the name of the mark: nothing is dropped.
  await inDatabase('CREATE SCHEMA ratatosk_restore; CREATE TABLE ratatosk_restore.kept ()', DATABASE_URL)
  expect(await run(['restore', saved], place)).toMatchObject({ status: 1 })
  await inDatabase('SELECT FROM ratatosk_restore.kept', DATABASE_URL)
  expect(await withNode(place, (_, store) => store.ledgerId())).toBe(restored)
})

test('a copy leaves the queue in Redis to the original, or takes it over', async (context) => {
  await needServices(context)
  const folder = await temporaryFolder()
  const saved = join(folder, 'saved')
  const names = [randomName(), randomName(), randomName()]
  const [name = '', ...copies] = names
  const DATABASE_SCHEMA = name
  onTestFinished(async () => {
    for (const each of names) {
      await inDatabase(`DROP DATABASE IF EXISTS ${each} WITH (FORCE)`)
      await removeKeys(each)
    }
  })
  const placeOf = (database: string, QUEUE_PREFIX: string) => ({
    DATA_DIR: join(folder, database),
    DATABASE_URL: new URL(`/${database}`, databaseUrl).href,
    DATABASE_SCHEMA,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX,
  })
  for (const each of names) await inDatabase(`CREATE DATABASE ${each}`)
  const original = placeOf(name, name)
  const waiting = await withNode(original, async (url) => {
    const client = createClient(url)
    const funds = await devnetFunds(client, 10_000_000n)
    if (funds === undefined) throw new Error('The devnet has no funds')
    const builder = await openBuilder(client)
    return builder.pay({ ...funds, to: receiver, lovelace: 2_000_000n })
  })
  expect(await run(['backup', saved], original)).toMatchObject({ status: 0 })
  await withNode({ ...original, NODE_ROLE: 'api' }, (url) => createClient(url).submit(waiting.transaction))

  const [first = '', second = ''] = copies
  for (const copy of copies)
    expect(await run(['restore', saved], placeOf(copy, name))).toMatchObject({
      status: 0,
      out: expect.stringMatching(
        new RegExp(`a QUEUE_PREFIX of its own\\. .*run \`redis-cli -u redis://.* del "${name}:ledger"\``),
      ),
    })
  await expect(withNode(placeOf(first, name), async () => undefined)).rejects.toMatchObject({
    code: 'NODE_QUEUE',
    message: expect.stringContaining('the copy of a ledger needs one of its own'),
  })
  const statusAt = (place: ReturnType<typeof placeOf>, seconds: number) =>
    withNode(place, (url) => {
      const accepted = createClient(url).awaitTx(waiting.txHash, { timeoutMs: seconds * 1000 })
      return accepted.then(
        () => 'accepted',
        () => 'unknown',
      )
    })
  expect(await statusAt(placeOf(first, first), 3)).toBe('unknown')

  await withRedis((redis) => redis.del(`${name}:ledger`))
  expect(await statusAt(placeOf(second, name), 30)).toBe('accepted')
  await expect(withNode(original, async () => undefined)).rejects.toMatchObject({ code: 'NODE_QUEUE' })
})

test('without pg_dump it says what to install and what to run', async (context) => {
  await needServices(context)
  const folder = await temporaryFolder()
  const schema = randomName()
  await inDatabase(`CREATE SCHEMA ${schema}`)
  onTestFinished(() => inDatabase(`DROP SCHEMA ${schema}`))
  vi.stubEnv('PATH', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const place = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema }
  expect(await run(['backup', join(folder, 'saved')], place)).toMatchObject({
    status: 1,
    error: expect.stringMatching(
      new RegExp(`^pg_dump is not on the PATH: .* pg_dump --dbname=.* --schema=${schema} --file=`),
    ),
  })
})
