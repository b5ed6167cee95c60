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

test('what is summed is answered while others wait; those beyond the limit are refused', async () => {
  const { answers, details, begun, release, state } = blocksOf(50n)
  state.isHeld = false
  expect((await details(50n)).block).toMatchObject(sums)
  expect((await answers.list({ before: undefined, limit: 1 })).blocks).toMatchObject([sums])
  state.isHeld = true
  const asked = Array.from({ length: 34 }, (_, height) => details(BigInt(height + 1)))
  await settled()
  expect((await details(50n, 1)).block).toMatchObject(sums)
  expect((await answers.list({ before: undefined, limit: 1 })).blocks).toMatchObject([sums])
  await expect(details(35n)).rejects.toMatchObject({ statusCode: 503, code: 'EXPLORER_TOO_MANY_READS' })
  release()
  for (const { block } of await Promise.all(asked)) expect(block).toMatchObject(sums)
  expect(begun).toHaveLength(35)
  expect((await details(35n)).block).toMatchObject(sums)
})

test('lists that make no sums do not wait for those that do', async () => {
  const { answers, release } = blocksOf(9n)
  const list = (limit: number) => answers.list({ before: undefined, limit })
  const asked = [list(1), list(2)]
  await settled()
  for (const limit of [3, 4, 5, 6, 7])
    expect((await list(limit)).blocks).toMatchObject(Array(limit).fill({ state: 'committed' }))
  release()
  for (const { blocks } of await Promise.all(asked)) expect(blocks[0]).toMatchObject(sums)
})

test('thirty-six blocks are read or wait at a time, and further readers are refused', async () => {
  const { details, state } = blocksOf(40n)
  state.isHeld = false
  for (let height = 1n; height <= 37n; height++) await details(height)
  const asked = Array.from({ length: 37 }, (_, height) => details(BigInt(height + 1), 1))
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')
  expect(refused).toMatchObject([{ reason: { statusCode: 503, code: 'EXPLORER_TOO_MANY_READS' } }])
})
