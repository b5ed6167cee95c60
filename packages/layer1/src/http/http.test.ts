import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createJsonItems, parseJson } from './json.js'
import { bounded, unlessAborted } from './limits.js'

const never = new Promise<never>(() => undefined)
const ended = (signal: AbortSignal) => unlessAborted(signal, never)

test("ends with the reason of the caller's signal", async () => {
  const controller = new AbortController()
  const call = bounded(60_000, controller.signal, ended)
  controller.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
  await expect(bounded(60_000, controller.signal, ended)).rejects.toThrow('enough')
})

test('ends at the time limit', async () => {
  // An unreferenced timer alone would let the process end.
  const alive = setInterval(() => undefined, 1000)
  await expect(bounded(5, undefined, ended)).rejects.toMatchObject({ name: 'TimeoutError' })
  clearInterval(alive)
})

test('leaves no listener on a signal that outlives the call', async () => {
  const { signal } = new AbortController()
  await bounded(60_000, signal, async () => 1)
  await expect(bounded(60_000, signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await unlessAborted(signal, Promise.resolve())
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

/** Reads a text that arrives in parts of some bytes. */
function read(text: string, length: number): unknown[] {
  const bytes = Buffer.from(text)
  const items = createJsonItems()
  const read: unknown[] = []
  for (let at = 0; at < bytes.length; at += length) read.push(...items.take(bytes.subarray(at, at + length)))
  items.end()
  return read
}

const text = ' [{"a":[1,2,"],}"]},\n"\\"é,\\\\",[],null, 12345678901234567890 ,{"b":{}}] \n'

test.each([1, 2, 7, 1000])('reads the items of an array in parts of %d bytes', (length) => {
  expect(read(text, length)).toEqual(parseJson(text))
  expect(read('[ ]', length)).toEqual([])
})

test.each(['', '{"a":1}', 'null', '[1', '["a]', '[1,]', '[,1]', '[1}2]', '[1] [2]', '[<]'])(
  'refuses %s',
  (other) => {
    expect(() => read(other, 1)).toThrow(SyntaxError)
  },
)
