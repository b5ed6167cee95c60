import { expect, test } from 'vitest'
import { jobPacker } from './job.js'

test('no id begins with a hyphen, which commands take for an option', () => {
  const ids = Array.from(
    { length: 500 },
    () => jobPacker({ transactions: 1, bytes: 1 })([Uint8Array.of(0)])[0]!.job.id,
  )
  expect(ids.filter((id) => id.startsWith('-'))).toEqual([])
})
