import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import {
  asRoot,
  can,
  digestOf,
  isOpen,
  openDirectory,
  storeOf,
  withoutPrograms,
  withoutUserNamespaces,
} from '../test/embedded-starts.js'
import { failedStart } from '../test/node-process.js'

// Where no server can run, a start takes the time of PGlite's initdb.
t.setTimeout(600_000)

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
  "without the package's programs, where a server has made the folder",
  { skip: !can(withoutPrograms) && 'user namespaces are not allowed' },
  async (t) => {
    const served = join(await temporaryDirectory(t), 'data')
    t.match((await storeOf(t, asRoot, served, 0)).store, /^PostgreSQL \d+\.\d+/)
    const before = await digestOf(served)
    const { code, stderr } = await failedStart(t, { DATA_DIR: served }, withoutPrograms)
    t.equal(code, 1)
    t.match(stderr, /postgresql" needs a PostgreSQL server, and none can run here: the package .*Nothing was/)
    t.equal(await digestOf(served), before, 'nothing was changed')
  },
)
