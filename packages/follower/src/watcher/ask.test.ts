import type { SummonsQuestion } from '@ratatosk/contracts'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { reliesOnAsked } from './ask.js'
import type { WatcherContext } from './context.js'
import { createQuestionBook } from './question-book.js'

const wanted = {
  kind: 'chunk',
  root: 1,
  key: new Uint8Array(4),
  hash: new Uint8Array(32),
  steps: [],
} as const
const term = { now: 0n, validUntil: 0n, deadline: 1000n, isInTime: true }

const asked = (index: number, deadline: bigint) => {
  const { steps: _, ...subject } = wanted
  const question = { ...subject, headerHash: new Uint8Array(28), refund: new Uint8Array(28), deadline }
  const reference = { transactionId: new Uint8Array(32), index }
  const utxo = { reference, output: { bytes: Uint8Array.of(index) } }
  return { question: question as SummonsQuestion, utxo } as unknown as OpenQuestion
}

test('keeps one question, and none whose deadline is too late to rely on', async () => {
  const kept: number[] = []
  const context = {
    verdicts: {
      keepQuestion: async (_: Uint8Array, { output }: { readonly output: Uint8Array }) => {
        kept.push(output[0]!)
      },
    },
  } as unknown as WatcherContext
  const recorded = new Set<string>()
  const book = { ...createQuestionBook(), kept: new Set<string>() }
  const relies = (...open: OpenQuestion[]) =>
    reliesOnAsked(context, book, { open, pending: [], recorded, own: 0 }, wanted, term)
  expect(await relies(asked(1, 5000n))).toBe(false)
  expect(await relies(asked(1, 5000n), asked(2, 900n))).toBe(true)
  expect(kept).toEqual([2])
  // Others ask the same, and the provider shows theirs first.
  expect(await relies(asked(3, 800n), asked(2, 900n))).toBe(true)
  expect(kept).toEqual([2])
  // Its own, once it is not recorded any more.
  recorded.add(outputReferenceKey(asked(4, 700n).utxo.reference))
  book.kept.clear()
  expect(await relies(asked(4, 700n))).toBe(true)
  expect(kept).toEqual([2])
  recorded.clear()
  expect(await relies(asked(4, 700n))).toBe(true)
  expect(kept).toEqual([2, 4])
})
