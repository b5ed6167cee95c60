import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countWithinChunks, createChunker, maxChunks } from './chunks.js'

const none = new Uint8Array()
const zeros = new Uint8Array(16_384)

/** The chunks of transactions with these lengths, as a block is cut. */
function chunksOf(lengths: readonly number[]): number {
  let chunks = 0
  const chunker = createChunker(() => chunks++)
  // A transaction has a head of one byte, which no chunk has.
  for (const length of lengths)
    chunker.add({ body: zeros.subarray(0, length - 1), witnessSet: none, rest: none })
  chunker.end()
  expect(chunker.count).toBe(chunks)
  return chunks
}

it('counts the transactions that fit into a block', () => {
  const length = fc.integer({ min: 1, max: 16_384 })
  fc.assert(
    fc.property(fc.array(length, { minLength: 50, maxLength: 50 }), (some) => {
      const lengths = Array.from({ length: 2500 }, (_, n) => some[(n * n) % 50] as number)
      const { transactions: count, chunks } = countWithinChunks(lengths)
      expect(chunks).toBeLessThanOrEqual(maxChunks)
      expect(chunksOf(lengths.slice(0, count))).toBe(chunks)
      if (count < lengths.length) expect(chunksOf(lengths.slice(0, count + 1))).toBe(maxChunks + 1)
    }),
    { numRuns: 20 },
  )
})

it.each([
  [6133, 2 * maxChunks],
  [6134, maxChunks],
  [12_277, maxChunks],
  [12_278, maxChunks],
])('takes of transactions of %i bytes the first %i', (length, count) => {
  const lengths = new Array<number>(3000).fill(length)
  expect(countWithinChunks(lengths)).toEqual({ transactions: count, chunks: maxChunks })
})
