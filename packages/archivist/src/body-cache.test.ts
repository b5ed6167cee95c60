import { expect, test } from 'vitest'
import { createBodyCache } from './body-cache.js'

const mebibyte = 1024 * 1024
const pieces = 640

/** A body of 40 MiB; counts how often it is derived. */
function largeBody() {
  const count = { derived: 0 }
  return {
    count,
    async *derive() {
      count.derived++
      for (let n = 0; n < pieces; n++) yield Buffer.alloc(65_536, n)
    },
  }
}

/** Readers that have read `position` pieces and then stall. */
async function stalled(readers: AsyncGenerator<Uint8Array, void>[], position: number) {
  for (const reader of readers) for (let n = 0; n < position; n++) await reader.next()
}

test('20 stalled readers of a 40 MiB body share one derivation within the limit', async () => {
  const cache = createBodyCache(64 * mebibyte)
  const { count, derive } = largeBody()
  const before = process.memoryUsage().rss
  const readers = Array.from({ length: 20 }, () => cache.read('block', derive))
  await stalled(readers, 630)
  const growth = Math.round((process.memoryUsage().rss - before) / mebibyte)
  console.log(`20 stalled readers of a 40 MiB body: RSS +${growth} MiB, derived ${count.derived} times`)
  expect(count.derived).toBe(1)
  expect(cache.bytes).toBeLessThanOrEqual(64 * mebibyte)
  let rest = 0
  for await (const _ of readers[7]!) rest++
  expect(rest).toBe(pieces - 630)
  for (const reader of readers) await reader.return()
})

test('each reader derives a body that does not fit, without a gap, and nothing of it is cached', async () => {
  const cache = createBodyCache(10 * mebibyte)
  const { derive } = largeBody()
  const readers = [cache.read('block', derive), cache.read('block', derive)]
  await stalled(readers, 100)
  expect(cache.bytes).toBeLessThanOrEqual(10 * mebibyte)
  for (const reader of readers) {
    let position = 100
    for await (const piece of reader) expect(piece[0]).toBe(position++ % 256)
    expect(position).toBe(pieces)
  }
  expect(cache.bytes).toBe(0)
})

test('ends and drops a derivation that all readers have left', async () => {
  const cache = createBodyCache(64 * mebibyte)
  let ended = 0
  async function* derive() {
    try {
      for (let n = 0; n < pieces; n++) yield Buffer.alloc(65_536, n)
    } finally {
      ended++
    }
  }
  const readers = [cache.read('block', derive), cache.read('block', derive)]
  await stalled(readers, 5)
  await readers[0]!.return()
  expect(ended).toBe(0)
  await readers[1]!.return()
  expect(ended).toBe(1)
  expect(cache.bytes).toBe(0)
})

test('a failed derivation fails its readers, and the next reader starts a new one', async () => {
  const cache = createBodyCache(64 * mebibyte)
  let fails = true
  async function* derive() {
    yield Buffer.alloc(65_536)
    if (fails) throw new Error('the table is gone')
  }
  const read = async () => {
    let count = 0
    for await (const _ of cache.read('block', derive)) count++
    return count
  }
  await expect(Promise.all([read(), read()])).rejects.toThrow('the table is gone')
  fails = false
  expect(await read()).toBe(1)
})
