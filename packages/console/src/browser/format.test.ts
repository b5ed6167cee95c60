import { expect, test } from 'vitest'
import { jsonText } from './format.js'

test('long JSON is cut', () => {
  expect(jsonText({ int: [1] })).toBe('{"int":[1]}')
  expect(jsonText(undefined)).toBe('too large to show')
  const text = jsonText('a'.repeat(200_000))
  expect(text.slice(99_999)).toBe('a… (200.0 kB in all)')
})
