import { expect, test } from 'vitest'
import { EncodedJson, encodeJson, encodeJsonParts, lazyList, parseJson } from './json.js'

async function whole(value: unknown): Promise<string> {
  let text = ''
  for await (const part of encodeJsonParts(value)) text += part
  return text
}

test('parts are the same text as the whole', async () => {
  for (const value of [
    null,
    12n,
    'a"\n\u2028',
    [],
    {},
    [1, undefined, [2n, []], {}],
    { a: { b: undefined, c: [{ d: '' }] }, 'e"': true },
    'é"\\'.repeat(100_000),
    Array.from({ length: 50_000 }, (_, index) => ({ index: BigInt(index) })),
  ])
    expect(await whole(value)).toBe(encodeJson(value))
})

test('a cut character is read as one', async () => {
  const text = `-${'😀'.repeat(100_000)}`
  expect(JSON.parse(await whole({ text })).text).toBe(text)
})

test('encoded parts and lazy lists are in their places', async () => {
  async function* list() {
    yield '[1,'
    yield '2]'
  }
  const value = {
    block: new EncodedJson(Buffer.from('{"é":1}')),
    list: new EncodedJson(list()),
    lazy: lazyList([1, 2], (item) => ({ item })),
    none: lazyList([], String),
  }
  expect(JSON.parse(await whole(value))).toEqual({
    block: { é: 1 },
    list: [1, 2],
    lazy: [{ item: 1 }, { item: 2 }],
    none: [],
  })
})

test('other work takes its turn, and an item is made when the part before it is taken', async () => {
  const item = 'x'.repeat(10_000)
  let made = 0
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const parts = encodeJsonParts(
    lazyList(new Array(5000), () => {
      made++
      return [item, item]
    }),
  )
  const first = await parts.next()
  expect(first.value?.length).toBeLessThan(100_000)
  expect(made).toBeLessThan(5)
  for await (const part of parts) expect(part.length).toBeLessThan(100_000)
  clearInterval(timer)
  expect(made).toBe(5000)
  expect(turns).toBeGreaterThan(2)
})

test.each([
  ['[1,-0.5,1e2,"12345678901234567890"]', [1, -0.5, 100, '12345678901234567890']],
  ['{"a":-9007199254740993}', { a: -9007199254740993n }],
  [
    '[ 123456789012345678901234567890, 9007199254740991]',
    [123456789012345678901234567890n, 9007199254740991],
  ],
])('parses %s without rounding', (text, value) => {
  expect(parseJson(text)).toEqual(value)
})

test('refuses numbers that nothing can hold, and deep nesting', () => {
  expect(() => parseJson('[1e400]')).toThrow(SyntaxError)
  expect(() => parseJson(`[${'1'.repeat(1001)}]`)).toThrow(SyntaxError)
  expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow('nests deeper than 32 levels')
})
