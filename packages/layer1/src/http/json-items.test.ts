import { expect, test } from 'vitest'
import { parseJson } from './json.js'
import { createJsonItems } from './json-items.js'

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
