import { chunkKey, encodeChunkRecord, maxChunks } from '@ratatosk/block'
import { encodeChunkAnswer } from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { framesOf } from '../../../fraud/dist/test/lying-blocks.js'
import { theft } from '../../../fraud/dist/test/theft.js'
import type { WatcherContext } from './context.js'
import { createQuestionBook } from './question-book.js'
import { followQuestions } from './questions.js'
import { assemble } from './unavailable.js'

const transaction = theft({ inputs: [1] })
const bytes = framesOf(transaction)
const record = encodeChunkRecord({ first: 0, chunks: 1, chunkHash: blake2b256(bytes) })
const shown = { kind: 'shown', record, bytes } as const

test('keeps no bytes of a chunk that no block has', async () => {
  const redeemer = encodeChunkAnswer(0, { entry: record, proof: [], parts: [bytes] })
  const context = {
    layer1: { spending: async () => ({ redeemer, transactionId: new Uint8Array(32) }) },
    step: () => undefined,
  } as unknown as WatcherContext
  const book = createQuestionBook()
  for (const number of [maxChunks - 1, maxChunks, 0xffffffff]) {
    const reference = { transactionId: new Uint8Array(32), index: book.seen.size }
    const question = { kind: 'chunk', key: chunkKey(number) }
    book.seen.set(String(number), { question, utxo: { reference } } as unknown as OpenQuestion)
  }
  await followQuestions(context, book, undefined, [], 0n)
  const none = { ...shown, bytes: new Uint8Array() }
  expect([...book.chunks]).toEqual([
    [maxChunks - 1, shown],
    [maxChunks, none],
    [0xffffffff, none],
  ])
})

test('assembles a body without regard to chunks that no block has', () => {
  const book = createQuestionBook()
  book.chunks.set(0, shown)
  for (const beyond of [{ kind: 'unreadable' }, shown] as const) {
    book.chunks.set(maxChunks, beyond)
    expect(assemble(book)).toEqual({ kind: 'whole', transactions: [transaction] })
  }
  book.chunks.set(maxChunks - 1, { kind: 'unreadable' })
  expect(assemble(book)).toMatchObject({ kind: 'unreadable' })
})
