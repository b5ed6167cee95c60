import { createHash } from 'node:crypto'
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { blockVersion } from '@ratatosk/block'
import { openStore, type Store } from '@ratatosk/store'
import { databaseUrl, inDatabase, schemaDigest } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { migrate, readSettings, startNode } from '../index.js'
import { embedded, temporaryDirectory } from '../test/backends.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'
import {
  restoreUpgrade,
  upgradeCommits,
  upgradeGoesOn,
  upgradeSettings,
  upgradeSkip,
  upgradeVersion,
} from '../test/upgrade-fixtures.js'

type Place = Readonly<Record<string, string>>

const settingsOf = (place: Place) =>
  readSettings({ PORT: '0', LOG_LEVEL: 'silent', ...upgradeSettings, ...place })

/** Sets the block version of every header to 1; the version is the last item of an indefinite list. */
const versionOne = (schema: string) => `
  UPDATE ${schema}.blocks SET header = set_byte(header, octet_length(header) - 2, 1)
  WHERE get_byte(header, octet_length(header) - 1) = 255`

async function outputsOf(store: Store): Promise<readonly string[]> {
  const outputs: string[] = []
  for await (const page of store.blocks.utxosAfterNewest())
    for (const { transactionId, index, output } of page)
      outputs.push(
        [Buffer.from(transactionId).toString('hex'), index, Buffer.from(output).toString('hex')].join(),
      )
  return outputs.sort()
}

const statusOf = async (url: string, id: string) =>
  JSON.parse((await ask(`${url}/tx/status?tx_hash=${id}`)).body).status

/** Starts a new deployment with an export; submits its transactions, of which this is one. */
async function begun(
  t: Test,
  folder: string,
  outputs: readonly string[],
  unconfirmed: string,
): Promise<void> {
  const place = { ...upgradeSettings, ...(await embedded(t)), GENESIS_FILE: join(folder, 'genesis.json') }
  const { url, store } = await runNode(t, { ...place, AUTO_COMMIT: 'false' })
  t.same(await outputsOf(store), outputs, 'the new ledger begins with the confirmed outputs of the old one')
  const lines = (await readFile(join(folder, 'transactions.txt'), 'utf8')).split('\n')
  for (const line of lines.filter(Boolean)) t.equal((await submit(url, line)).status, 200)
  await until(async () => (await statusOf(url, unconfirmed)) === 'mempool', {
    what: 'what was not confirmed is accepted again',
  })
}

for (const commit of upgradeCommits) {
  t.test(`a deployment of ${commit} with another block version`, { skip: upgradeSkip }, async (t) => {
    const place = await restoreUpgrade(t, commit)
    const { DATABASE_SCHEMA: schema = '' } = place
    if (upgradeGoesOn) await inDatabase(versionOne(schema))
    const version = upgradeGoesOn ? '1' : String(upgradeVersion)
    const digests = () =>
      Promise.all(['', '_queue', '_index', '_devnet'].map((end) => schemaDigest(`${schema}${end}`)))
    const before = await digests()
    await t.rejects(startNode(settingsOf(place)), {
      code: 'NODE_DATABASE',
      message: new RegExp(
        `^The blocks in the schema ${schema} of postgres:.* of block version ${version}, and this ` +
          `node has version ${blockVersion}\\. Nothing was changed\\. ` +
          `.*\`ratatosk migrate --to ${schema}-migrated\``,
      ),
    })
    t.same(await digests(), before, 'the refused start left everything as it was')

    const folder = join(await temporaryDirectory(t), 'migrated')
    const migration = await migrate(settingsOf(place), folder)
    t.match(migration, {
      blockVersion: version,
      confirmedHeight: '2',
      outputs: { count: 202 },
      transactions: { count: 1, expired: 0 },
    })
    t.same(await digests(), before, 'the export left everything as it was')
    await t.rejects(migrate(settingsOf(place), folder), { code: 'NODE_BACKUP', message: /is not empty/ })

    const store = await openStore({ url: databaseUrl, schema })
    t.teardown(() => store.close())
    await t.rejects(migrate(settingsOf(place), `${folder}-2`), {
      code: 'NODE_BACKUP',
      message: /Processes use .*: a session from .*Stop every process/,
    })
    const [waiting] = await store.blocks.oldest(2)
    await begun(t, folder, await outputsOf(store), Buffer.from(waiting?.id ?? '').toString('hex'))
  })
}

t.test('an embedded deployment with another block version', async (t) => {
  const place = await embedded(t)
  const { DATA_DIR = '' } = place
  const [merged, waiting] = [await transferFrom(3, 0), await transferFrom(3, 1)]
  const first = await runNode(t, { ...upgradeSettings, ...place })
  await submit(first.url, merged.transfer.cborHex)
  await until(async () => (await statusOf(first.url, merged.transfer.hash)) === 'merged', {
    what: 'the first transaction is merged',
    timeoutMs: 240_000,
  })
  await first.close()
  const second = await runNode(t, { ...upgradeSettings, ...place, AUTO_COMMIT: 'false' })
  await submit(second.url, waiting.transfer.cborHex)
  await until(async () => (await statusOf(second.url, waiting.transfer.hash)) === 'mempool', {
    what: 'the second transaction is accepted',
  })
  const outputs = await outputsOf(second.store)
  const folder = join(await temporaryDirectory(t), 'migrated')
  await t.rejects(migrate(settingsOf(place), folder), { code: 'NODE_DATA_DIR', message: /uses it/ })
  await second.close()
  await t.rejects(startNode(settingsOf({ ...place, VERDICT_POLICIES: 'ledger' })), {
    code: 'NODE_DATABASE',
    message: /are not in the state queue of these contracts/,
  })

  const pglite = await PGlite.create(join(DATA_DIR, 'store'))
  await pglite.query(versionOne('ratatosk'))
  await pglite.close()
  const record = join(DATA_DIR, 'store', 'deployment.json')
  const asOf = async (version: string) =>
    writeFile(record, (await readFile(record, 'utf8')).replace(/^\["\d+"/, `["${version}"`))
  const refused = () =>
    t.rejects(startNode(settingsOf(place)), {
      code: 'NODE_DATABASE',
      message: new RegExp(
        `^The blocks in the embedded PostgreSQL of DATA_DIR "${DATA_DIR}" are of block version 1, .* ` +
          `Nothing was changed\\. .*\`ratatosk migrate --from ${DATA_DIR} --to ${DATA_DIR}-migrated\``,
      ),
    })
  await asOf('1')
  const before = await digestOf(DATA_DIR)
  await refused()
  t.equal(await digestOf(DATA_DIR), before, 'the refused start left every byte as it was')
  await mkdir(join(DATA_DIR, 'store.copy'))
  await refused()
  t.equal(await digestOf(DATA_DIR), before, 'and removed what a start that was killed left')
  await rm(record)
  const without = await digestOf(DATA_DIR)
  await refused()
  t.equal(await digestOf(DATA_DIR), without, 'so does a start without the record')
  const original = join(await temporaryDirectory(t), 'store')
  await rename(join(DATA_DIR, 'store'), original)
  await symlink(original, join(DATA_DIR, 'store'))
  const linked = await digestOf(original)
  await refused()
  t.equal(await digestOf(original), linked, 'so does one of a store that is a link')
  await unlink(join(DATA_DIR, 'store'))
  await rename(original, join(DATA_DIR, 'store'))

  const link = join(await temporaryDirectory(t), 'link')
  await symlink(DATA_DIR, link)
  for (const inside of [DATA_DIR, link])
    await t.rejects(migrate(settingsOf(place), join(inside, 'migrated')), { message: /is in DATA_DIR/ })
  await chmod(DATA_DIR, 0o755)
  const empty = { DATA_DIR: await temporaryDirectory(t) }
  await t.rejects(migrate(settingsOf(empty), folder), { code: 'NODE_BACKUP', message: /it has no store/ })
  const migration = await migrate(settingsOf(place), folder)
  t.match(migration, { blockVersion: '1', ledgerVersion: 11, outputs: { count: outputs.length } })
  t.match(migration, { transactions: { count: 1 } })
  t.equal(await digestOf(DATA_DIR), without, 'the export left every byte as it was')
  t.equal((await stat(DATA_DIR)).mode & 0o777, 0o755, 'and the mode')
  t.same((await readdir(folder)).sort(), ['genesis.json', 'transactions.txt'])
  await begun(t, folder, outputs, waiting.transfer.hash)
})

t.test('a devnet of other contracts, without blocks', async (t) => {
  const { DATA_DIR = '' } = await embedded(t)
  const place = { DATA_DIR, AUTO_COMMIT: 'false' }
  const first = await runNode(t, { ...upgradeSettings, ...place })
  await initialised(first.url)
  const outputs = await outputsOf(first.store)
  await first.close()
  const before = await digestOf(DATA_DIR)
  await t.rejects(startNode(settingsOf({ ...place, MATURITY_WINDOW_MS: '600' })), {
    code: 'NODE_DATABASE',
    message:
      /^The deployment on the devnet in .* is not in the state queue of these contracts.*`ratatosk migrate/,
  })
  t.equal(await digestOf(DATA_DIR), before, 'the refused start left every byte as it was')
  const folder = join(await temporaryDirectory(t), 'migrated')
  t.match(await migrate(settingsOf(place), folder), {
    confirmedHeight: '0',
    outputs: { count: outputs.length },
    transactions: { count: 0 },
  })
  await (await startNode(settingsOf(place))).close()
})

/** Of all files in a folder, by path and content. */
async function digestOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const hash = createHash('sha256')
  for (const file of files.sort()) hash.update(file).update(await readFile(file))
  return hash.digest('hex')
}
