import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { takeDataDirectory } from './data-directory.js'

t.test('one holder at a time; whoever releases it makes room', async (t) => {
  const path = join(await temporaryDirectory(t), 'a', 'b')
  const first = await takeDataDirectory(path)
  t.equal(first.path, path)
  await t.rejects(takeDataDirectory(path), {
    code: 'NODE_DATA_DIR',
    message: `DATA_DIR is "${path}": the process ${process.pid} uses it. Stop that one, or choose another directory.`,
  })
  await first.release()
  const second = await takeDataDirectory(path)
  await second.release()
  t.same(await readdir(path), [])
})

t.test('the lock of a process that is gone is cleared away', async (t) => {
  const path = await temporaryDirectory(t)
  for (const name of [
    `lock.${2 ** 22 + 1}.unknown.abc`,
    // The same process id, begun at another time.
    `lock.${process.pid}.another-boot-42.abc`,
    'lock.1.another-boot-1.abc',
    'lock.what',
    'lock',
  ]) {
    await writeFile(join(path, name), '')
  }
  const { release } = await takeDataDirectory(path)
  t.match(await readdir(path), [new RegExp(`^lock\\.${process.pid}\\.`)])
  await release()
  t.same(await readdir(path), [])
})

t.test('of many at the same moment no two get it', async (t) => {
  const path = await temporaryDirectory(t)
  for (let round = 0; round < 10; round++) {
    await writeFile(join(path, 'lock.1.another-boot-1.abc'), '')
    const takers = await Promise.allSettled(Array.from({ length: 4 }, () => takeDataDirectory(path)))
    const taken = takers.flatMap((taker) => (taker.status === 'fulfilled' ? [taker.value] : []))
    t.ok(taken.length <= 1, `${taken.length} of 4`)
    for (const { release } of taken) await release()
  }
  const { release } = await takeDataDirectory(path)
  await release()
})
