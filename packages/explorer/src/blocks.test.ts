import { EventEmitter, once } from 'node:events'
import { signed } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import { blockAnswers } from './blocks.js'
import { keyOf, options, timedBlock } from './test/ports.js'

const { cbor } = signed(keyOf('a'), {
  inputs: [{ transactionId: new Uint8Array(32), index: 0 }],
  outputs: [1n],
  fee: 3n,
})
const sums = { bytes: 2 * cbor.length, fees: '6' }
const first = { offset: 0, limit: 1 }

/** Blocks of two transactions, whose bodies are read once `release` is called. */
function blocksOf(count: bigint) {
  const begun: number[] = []
  const gate = new EventEmitter()
  const state = { isHeld: true }
  const release = () => {
    state.isHeld = false
    gate.emit('open')
  }
  const fail = (error: Error) => gate.emit('error', error)
  const answers = blockAnswers({
    reads: {
      ...options.reads,
      blocks: async ({ before = count + 1n }: { before?: bigint }) =>
        Array.from({ length: Number(before) - 1 }, (_, below) => timedBlock(before - 1n - BigInt(below), 2)),
      block: async (id) => (typeof id === 'bigint' ? timedBlock(id, 2) : undefined),
    },
    ledger: {
      ...options.ledger,
      transactionsOf: async ([height = 0], { limit }) => {
        if (limit > 1) {
          begun.push(height)
          if (state.isHeld) await once(gate, 'open')
        }
        return Array.from({ length: Math.min(2, limit) }, () => ({ id: new Uint8Array(32), cbor }))
      },
    },
  })
  const details = (height: bigint, offset = 0) =>
    answers.details({ id: height, text: String(height) }, { ...first, offset })
  return { answers, details, begun, release, fail, state }
}

/** Lets what is begun go on until it waits. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('readers of different parts at the same time sum a block once', async () => {
  const { details, begun, release } = blocksOf(1n)
  const asked = Array.from({ length: 20 }, (_, offset) => details(1n, offset))
  await settled()
  release()
  for (const { block } of await Promise.all(asked)) expect(block).toMatchObject(sums)
  expect(begun).toEqual([1])
})

test('two blocks are summed at a time, and lists do not wait for them', async () => {
  const { answers, details, begun, release } = blocksOf(9n)
  const asked = [1n, 2n, 3n].map((height) => details(height))
  await settled()
  expect(begun).toEqual([1, 2])
  const busy = await answers.list({ before: undefined, limit: 5 })
  expect(busy.blocks.map(({ bytes }) => bytes)).toEqual(Array(5).fill(undefined))
  release()
  for (const { block } of await Promise.all(asked)) expect(block).toMatchObject(sums)
  const { blocks } = await answers.list({ before: undefined, limit: 9 })
  expect(blocks).toMatchObject(Array(9).fill(sums))
  expect(begun).toEqual([1, 2, 3, 9, 8, 7, 6, 5, 4])
})

test('a sum that failed is made again', async () => {
  const { details, fail, state } = blocksOf(1n)
  const asked = details(1n)
  await settled()
  fail(new Error('down'))
  await expect(asked).rejects.toThrow('down')
  state.isHeld = false
  expect((await details(1n)).block).toMatchObject(sums)
})
