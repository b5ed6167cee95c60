import { expect, it } from 'vitest'
import { watchDisk } from './disk.js'
import { toDatabaseError } from './driver-errors.js'

const full = toDatabaseError(Object.assign(new Error('could not extend file'), { code: '53100' }))

it('names a full disk', () => {
  expect(full).toMatchObject({ code: 'DATABASE_UNAVAILABLE', sqlState: '53100', retryable: true })
  expect(full.message).toMatch(/^No space is left on the disk of the database \(53100\)/)
})

it.each([
  ['as the server reports it', full],
  ['as the cause of a cause', new Error('not added', { cause: new Error('failed', { cause: full }) })],
  ['as the system reports it', Object.assign(new Error('write'), { code: 'ENOSPC' })],
])('tries a write after one that met a full disk, %s, until one succeeds', async (_how, failure) => {
  const disk = watchDisk()
  const statements: string[] = []
  let error: Error | undefined = full
  const check = () =>
    disk.check(async (text) => {
      statements.push(text)
      if (error !== undefined) throw error
    })
  await check()
  disk.failed(new Error('another failure'))
  await check()
  expect(statements).toEqual([])

  disk.failed(failure)
  await expect(check()).rejects.toBe(full)
  await expect(check()).rejects.toBe(full)
  error = undefined
  await check()
  expect(statements.splice(0)).toHaveLength(3)
  await check()
  expect(statements).toEqual([])
})

it('is not stuck where the write is not allowed', async () => {
  const disk = watchDisk()
  disk.failed(full)
  const lost = Object.assign(new Error('terminated'), { retryable: true })
  await expect(disk.check(() => Promise.reject(lost))).rejects.toBe(lost)
  await disk.check(() => Promise.reject(new Error('permission denied')))
  await disk.check(() => expect.fail('not tried again'))
})
