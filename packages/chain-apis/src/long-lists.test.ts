import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LongLists } from './long-lists.js'

/** Pages without an end, unless a number is given. */
async function* pages(count = Number.POSITIVE_INFINITY) {
  for (let page = 0; page < count; page++) yield []
}

const items = () => ['item']

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

test('64 lists of several pages are open, and further short ones are read', async () => {
  const lists = new LongLists()
  const signal = () => new AbortController().signal
  const open = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const left = new AbortController()
      return { left, parts: await lists.read(pages(3), items, left.signal) }
    }),
  )
  await expect(lists.read(pages(2), items, signal())).rejects.toMatchObject({ statusCode: 503 })
  expect(await textOf(await lists.read(pages(1), items, signal()))).toBe('["item"]')
  expect(await textOf(await lists.read(pages(0), items, signal()))).toBe('[]')

  // A list leaves the limit when it is read to its end, or when its client leaves, read or not.
  const [first, second, third] = open
  expect(await textOf(first!.parts)).toBe('["item","item","item"]')
  for await (const _ of second!.parts) break
  third!.left.abort()
  await setImmediate()
  const readers = () => [0, 1, 2].map(() => lists.read(pages(), items, signal()))
  await Promise.all(readers())
  await expect(Promise.any(readers())).rejects.toMatchObject({ errors: [{}, {}, {}] })
})

test('a list that has begun too late is not read', async () => {
  const lists = new LongLists()
  let read = 0
  async function* counted() {
    read++
    yield []
  }
  await expect(lists.read(counted(), items, AbortSignal.abort())).rejects.toThrow()
  expect(read).toBe(0)
})

test('a failure ends a list, also of several pages', async () => {
  const lists = new LongLists()
  const signal = () => new AbortController().signal
  for (let list = 0; list < 65; list++) {
    async function* failing() {
      yield* pages(3)
      throw new Error('lost')
    }
    const parts = await lists.read(failing(), items, signal())
    await expect(textOf(parts)).rejects.toThrow('lost')
  }
})

test('pages wait for others, and new lists are refused while 256 wait', async () => {
  const lists = new LongLists()
  let reading = 0
  let proceed = () => {}
  const proceeds = new Promise<void>((resolve) => {
    proceed = resolve
  })
  async function* slow() {
    reading++
    await proceeds
    yield []
  }
  const signal = () => new AbortController().signal
  const begin = (length: number) => Array.from({ length }, () => lists.read(slow(), items, signal()))
  const begun = begin(8)
  await expect.poll(() => reading).toBe(8)
  begun.push(...begin(256))
  await expect(lists.read(slow(), items, signal())).rejects.toMatchObject({ statusCode: 503 })
  expect(reading).toBe(8)
  proceed()
  const texts = await Promise.all(begun.map(async (parts) => textOf(await parts)))
  expect(new Set(texts)).toEqual(new Set(['["item"]']))
})
