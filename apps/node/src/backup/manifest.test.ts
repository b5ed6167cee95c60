import { expect, test } from 'vitest'
import { createFolder } from './manifest.js'

test.runIf(process.platform === 'linux')('refuses a folder that no process can create', async () => {
  await expect(createFolder('/proc/ratatosk/backup')).rejects.toThrow('cannot be written to')
})
