import { expect, test } from 'vitest'
import { counted, jsonText } from './format.js'

test('one thing has no plural', () => {
  expect([0, 1, 2000].map((count) => counted(count, 'block'))).toEqual([
    '0 blocks',
    '1 block',
    '2\u202f000 blocks',
  ])
})

test('long JSON is cut', () => {
  expect(jsonText({ int: [1] })).toBe('{"int":[1]}')
  expect(jsonText(undefined)).toBe('too large to show')
  const text = jsonText('a'.repeat(200_000))
  expect(text.slice(99_999)).toBe('a… (200.0 kB in all)')
})
