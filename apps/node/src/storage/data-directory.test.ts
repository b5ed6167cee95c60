import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { codeOf, parseStatus, takeDataDirectory } from './data-directory.js'

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-data-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

test('has one holder at a time, until it releases the directory', async () => {
  const path = join(await temporaryDirectory(), 'a', 'b')
  const first = await takeDataDirectory(path)
  expect(first.path).toBe(path)
  // As the server of the first, which may run as another user, needs it.
  await chmod(path, 0o711)
  await expect(takeDataDirectory(path, { waitMs: 0 })).rejects.toMatchObject({
    code: 'NODE_DATA_DIR',
    message:
      `DATA_DIR is "${path}": the process ${process.pid} uses it. Stop that one, or choose another ` +
      'directory.',
  })
  expect((await stat(path)).mode & 0o777).toBe(0o711)
  await first.release()
  const second = await takeDataDirectory(path)
  await second.release()
  expect(await readdir(path)).toEqual([])
})

test.skipIf(process.platform !== 'linux')('is refused at once where none can be created', async () => {
  for (const path of ['/proc/ratatosk', '/proc/ratatosk/data', '/dev/null/data'])
    await expect(takeDataDirectory(path)).rejects.toMatchObject({
      code: 'NODE_DATA_DIR',
      message: expect.stringMatching(
        /^DATA_DIR is "\/(proc|dev)\/.*": it cannot be written to \((ENOENT|ENOTDIR|EACCES)\)/,
      ),
    })
})

test('removes the lock of a process that is gone', async () => {
  const path = await temporaryDirectory()
  for (const name of [
    `lock.${2 ** 22 + 1}.unknown.abc`,
    // The same process id, started at another time.
    `lock.${process.pid}.another-boot-42.abc`,
    'lock.1.another-boot-1.abc',
    'lock.what',
    'lock',
  ]) {
    await writeFile(join(path, name), '')
  }
  const { release } = await takeDataDirectory(path)
  expect(await readdir(path)).toEqual([expect.stringMatching(new RegExp(`^lock\\.${process.pid}\\.`))])
  await release()
  expect(await readdir(path)).toEqual([])
})

test('refuses the lock of another namespace or boot, and keeps it, if asked to', async () => {
  const path = await temporaryDirectory()
  const first = await takeDataDirectory(path)
  const [own = ''] = await readdir(path)
  await first.release()
  const [, pid, start = '', random, space] = own.split('.')
  const options = { waitMs: 0, refuseForeign: true }
  for (const foreign of [
    `lock.1.${start}.${random}.4026500000`,
    `lock.1.another-boot-1.${random}.${space}`,
    `lock.${pid}.another-boot-1.${random}`,
  ]) {
    await writeFile(join(path, foreign), '')
    await expect(takeDataDirectory(path, options)).rejects.toMatchObject({
      code: 'NODE_DATA_DIR',
      message: expect.stringContaining(`"${foreign}" in it is the lock of a process in another container`),
    })
    expect(await readdir(path)).toEqual([foreign])
    const { release } = await takeDataDirectory(path, { waitMs: 0 })
    await release()
    expect(await readdir(path)).toEqual([])
  }
  // One that was killed here, which can be seen.
  await writeFile(join(path, `lock.${2 ** 22 + 1}.${start}.${random}.${space}`), '')
  const { release } = await takeDataDirectory(path, options)
  await release()
  expect(await readdir(path)).toEqual([])
})

test('removes the lock of an earlier boot of this machine, also if others are refused', async (context) => {
  const path = await temporaryDirectory()
  const first = await takeDataDirectory(path)
  const [own = ''] = await readdir(path)
  await first.release()
  const [, , , random, space, machine] = own.split('.')
  if (machine === '') return context.skip('a container does not know its machine')
  const options = { waitMs: 0, refuseForeign: true }
  await writeFile(join(path, `lock.1.another-boot-1.${random}.${space}.${machine}`), '')
  const { release } = await takeDataDirectory(path, options)
  await release()
  for (const unknown of [`another-boot-1.${random}.${space}.0123`, `unknown.${random}.${space}.${machine}`]) {
    await writeFile(join(path, `lock.1.${unknown}`), '')
    await expect(takeDataDirectory(path, options)).rejects.toMatchObject({ code: 'NODE_DATA_DIR' })
    await rm(join(path, `lock.1.${unknown}`))
  }
})

test('gives the directory to at most one of several that start at the same moment', async () => {
  const path = await temporaryDirectory()
  for (let round = 0; round < 10; round++) {
    await writeFile(join(path, 'lock.1.another-boot-1.abc'), '')
    const takers = await Promise.allSettled(
      Array.from({ length: 4 }, () => takeDataDirectory(path, { waitMs: 500 })),
    )
    const taken = takers.flatMap((taker) => (taker.status === 'fulfilled' ? [taker.value] : []))
    expect(taken.length).toBeLessThanOrEqual(1)
    for (const { release } of taken) await release()
  }
  const { release } = await takeDataDirectory(path)
  await release()
})

test('waits for a running holder to leave', async () => {
  const path = await temporaryDirectory()
  const first = await takeDataDirectory(path)
  const second = takeDataDirectory(path)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await first.release()
  await (await second).release()
})

test('makes the directory accessible to its owner only, at each start', async () => {
  const path = await temporaryDirectory()
  await chmod(path, 0o755)
  const { release } = await takeDataDirectory(path)
  expect((await stat(path)).mode & 0o777).toBe(0o700)
  await release()
})

test.runIf(process.getuid?.() === 0)('takes the root of a volume, which another user owns', async () => {
  const path = await temporaryDirectory()
  await mkdir(join(path, 'lost+found'))
  await chmod(path, 0o777)
  process.seteuid?.(10_001)
  onTestFinished(() => process.seteuid?.(0))
  const { release } = await takeDataDirectory(path)
  await release()
  process.seteuid?.(0)
  expect((await stat(path)).mode & 0o777).toBe(0o777)
})

test('leaves the mode of a directory of others', async () => {
  const path = await temporaryDirectory()
  await mkdir(join(path, 'bin'))
  await chmod(path, 0o755)
  const { release } = await takeDataDirectory(path)
  expect((await stat(path)).mode & 0o777).toBe(0o755)
  await release()
})

/** An exited child without a waiting parent stays a zombie. It outlives the shell, which would wait. */
const zombieParent = `
const { spawn } = require('node:child_process')
const stdio = ['ignore', 'inherit', 'ignore']
const shell = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio })
process.on('SIGTERM', () => { shell.kill('SIGKILL'); process.exit() })
setInterval(() => undefined, 1000)
`

test.skipIf(process.platform !== 'linux')('does not count a zombie as a holder', async () => {
  const path = await temporaryDirectory()
  const parent = spawn(process.execPath, ['-e', zombieParent], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void parent.kill('SIGTERM'))
  const [chunk] = await once(parent.stdout, 'data')
  const pid = Number(String(chunk))
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
  const status = async () => parseStatus(boot, await readFile(`/proc/${pid}/stat`, 'utf8'))
  await expect.poll(async () => (await status()).ending).toBe(true)
  await writeFile(join(path, `lock.${pid}.${(await status()).start}.abc`), '')
  const { release } = await takeDataDirectory(path, { waitMs: 0 })
  await release()
})

test.each([
  ['R', 4194304, false],
  ['S', 1077936128, false],
  ['Z', 4194304, true],
  ['X', 4194304, true],
  ['D', 4194308, true],
])('reads state %s with flags %i as ending: %s', (state, flags, ending) => {
  const stat = `12 (a) b) ${state} 1 1 1 0 -1 ${flags} ${Array.from({ length: 12 }, () => 0).join(' ')} 777 0`
  expect(parseStatus('boot\n', stat)).toEqual({ start: 'boot-777', ending })
})

test('reads the code of an error of another realm, as test runners make them', () => {
  expect(codeOf(runInNewContext("Object.assign(new Error('x'), { code: 'ENOSPC' })"))).toBe('ENOSPC')
  expect(codeOf(undefined)).toBe('undefined')
})
