import { expect, test } from 'vitest'
import { shareReads } from './share-reads.js'

/** Reads that end when they are released. */
function heldReads() {
  const begun: { readonly key: string; readonly end: (error?: Error) => void }[] = []
  const read = shareReads(
    (key: string) =>
      new Promise<number>((resolve, reject) => {
        const number = begun.length + 1
        begun.push({ key, end: (error) => (error === undefined ? resolve(number) : reject(error)) })
      }),
  )
  return { begun, read }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('callers at the same time share a read, and later ones the next', async () => {
  const { begun, read } = heldReads()
  const first = [read('a'), read('a'), read('b')]
  await settled()
  const later = Array.from({ length: 100 }, () => read('a'))
  await settled()
  expect(begun.map(({ key }) => key)).toEqual(['a', 'b'])
  for (const { end } of begun) end()
  expect(await Promise.all(first)).toEqual([1, 1, 2])
  await settled()
  begun.at(-1)?.end()
  expect(new Set(await Promise.all(later)), 'a read that began after their calls').toEqual(new Set([3]))
  expect(begun).toHaveLength(3)
})

test('a failed read fails its callers only', async () => {
  const { begun, read } = heldReads()
  const first = read('a')
  await settled()
  const later = read('a')
  begun[0]?.end(new Error('lost'))
  await expect(first).rejects.toThrow('lost')
  await settled()
  begun[1]?.end()
  expect(await later).toBe(2)
})
