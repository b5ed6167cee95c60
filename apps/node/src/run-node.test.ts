import { createPGlite } from '@ratatosk/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { StartError } from './errors.js'
import { explainFailure } from './run-node.js'

test('a start that fails in the file system of PGlite says why', async () => {
  const pglite = await createPGlite()
  onTestFinished(() => pglite.close())
  const { FS } = pglite.Module
  const explain = (fail: () => unknown) => {
    try {
      fail()
    } catch (cause) {
      return explainFailure(new StartError('NODE_DATA_DIR', 'It cannot be opened.', { cause }))
    }
    return expect.fail('no failure')
  }
  expect(explain(() => FS.readFile('/nowhere'))).toMatch(/^Cause: WASI errno 44$/m)
  const full = explain(() => {
    throw new FS.ErrnoError(51)
  })
  expect(full).toMatch(/^Cause: No space is left on the disk$/m)
})
